package cuda

// A userObject is a CUuserObject: something of the program's that lives as long as anybody refers to it, graphs among others.
type userObject struct {
	handle            uint64
	pointer, function uint64
	count             int
}

var userObjectFunctions = []function{
	{"cuUserObjectCreate", "popii", initialized, userObjectCreate},
	{"cuUserObjectRetain", "ni", initialized, ofUserObject(0, 1, func(c *call, u *userObject, n int) Result { u.count += n; return Success })},
	{"cuUserObjectRelease", "ni", initialized, ofUserObject(0, 1, func(c *call, u *userObject, n int) Result { return c.releaseUser(u, n) })},
	{"cuGraphRetainUserObject", "nnii", initialized, graphRetainUser},
	{"cuGraphReleaseUserObject", "nni", initialized, graphReleaseUser},
}

// userObjectCreate: object, pointer, destructor, count, flags.
func userObjectCreate(c *call) Result {
	const noDestructorSync = 1
	if c.a[4] != noDestructorSync || c.integer(3) < 1 {
		return ErrInvalidValue
	}
	u := &userObject{pointer: c.a[1], function: c.a[2], count: c.integer(3)}
	u.handle = c.add(u)
	return c.out64(c.a[0], u.handle)
}

// ofUserObject finds the object and the count that arguments name.
func ofUserObject(object, count int, run func(c *call, u *userObject, n int) Result) func(*call) Result {
	return func(c *call) Result {
		u, ok := find[*userObject](c.process, c.a[object])
		if !ok || c.integer(count) < 1 {
			return ErrInvalidValue
		}
		return run(c, u, c.integer(count))
	}
}

// releaseUser takes references away. With the last one the program's destructor is called.
func (c *call) releaseUser(u *userObject, n int) Result {
	if n > u.count {
		return ErrInvalidValue
	}
	if u.count -= n; u.count > 0 {
		return Success
	}
	delete(c.handles, u.handle)
	return c.callback(u.function, u.pointer)
}

// users are numbers of references to user objects.
type users map[*userObject]int

// with adds references to a copy.
func (s users) with(more users) users {
	all := make(users, len(s)+len(more))
	for _, list := range []users{s, more} {
		for u, n := range list {
			all[u] += n
		}
	}
	return all
}

// retain adds as many references to the objects as there are.
func (s users) retain() users {
	for u, n := range s {
		u.count += n
	}
	return s
}

// keep notes that a graph has references.
func (g *graph) keep(u *userObject, n int) { g.users = g.users.with(users{u: n}) }

// graphRetainUser: graph, object, count, flags, of which MOVE hands the caller's references over.
func graphRetainUser(c *call) Result {
	const move = 1
	g, r := c.graphOf(c.a[0])
	if r != Success {
		return r
	}
	return ofUserObject(1, 2, func(c *call, u *userObject, n int) Result {
		switch {
		case c.a[3]&^move != 0 || c.a[3] == move && n > u.count:
			return ErrInvalidValue
		case c.a[3] != move:
			u.count += n
		}
		g.keep(u, n)
		return Success
	})(c)
}

func graphReleaseUser(c *call) Result {
	g, r := c.graphOf(c.a[0])
	if r != Success {
		return r
	}
	return ofUserObject(1, 2, func(c *call, u *userObject, n int) Result {
		if n > g.users[u] {
			return ErrInvalidValue
		}
		g.users[u] -= n
		return c.releaseUser(u, n)
	})(c)
}

// releaseUsers gives references back.
func (c *call) releaseUsers(list users) Result {
	if len(list) == 0 {
		return Success
	}
	for _, handle := range sortedHandles(c.handles) {
		u, ok := find[*userObject](c.process, handle)
		if !ok || list[u] == 0 {
			continue
		}
		if r := c.releaseUser(u, list[u]); r != Success {
			return r
		}
	}
	return Success
}
