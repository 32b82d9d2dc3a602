import corpus
import numpy as np

SIZE, ROBOTS = 48, 1024
EAST, SOUTH, WEST, NORTH = MOVES = (1, 1j, -1, -1j)  # x + y·i


def straight(way):
    """The headings towards the goal, the one along the longer side first."""
    sideways = EAST if way.real > 0 else WEST
    upright = SOUTH if way.imag > 0 else NORTH
    first, second = (sideways, upright) if abs(way.real) >= abs(way.imag) else (upright, sideways)
    return first, second, min(abs(way.real), abs(way.imag)) > 0


def walk(free, place, goal, most):
    met, heading, turns = None, EAST, 0
    for step in range(most):
        way = goal - place
        distance = abs(way.real) + abs(way.imag)
        if not distance:
            return step, place, turns, step
        if met is None or distance < met:
            met = None
            first, second, both = straight(way)
            if place + first in free:
                heading = first
            elif both and place + second in free:
                heading = second
            else:
                met, heading = distance, second * -1j
        if met is not None:
            choices = [heading * 1j * (-1j) ** turn for turn in range(4)]
            chosen = next((t for t in range(4) if place + choices[t] in free), None)
            if chosen is None:
                return -2, place, turns, step
            heading, turns = choices[chosen], turns + chosen
        place += heading
    return -1, place, turns, most


def reference(case):
    walls = np.zeros((SIZE, SIZE), np.uint8)
    walls[[0, -1]] = walls[:, [0, -1]] = 1
    boxes = corpus.draw(551, np.arange(4 * 70)).reshape(70, 4).tolist()
    for x, y, width, height in boxes:
        x, y = x % (SIZE - 6), y % (SIZE - 6)
        walls[y:y + 1 + height % 5, x:x + 1 + width % 5] = 1
    case.input("walls", walls)
    places = np.flatnonzero(walls == 0)
    draws = (corpus.draw(552, np.arange(2 * ROBOTS)) % np.uint64(len(places))).astype(int)
    tasks = places[draws].reshape(ROBOTS, 2)
    case.input("tasks", tasks)
    free = {complex(p % SIZE, p // SIZE) for p in places.tolist()}
    out = []
    for start, goal in tasks.tolist():
        result, place, turns, step = walk(free, complex(start % SIZE, start // SIZE), complex(goal % SIZE, goal // SIZE),
                                          case.args()[4])
        out.append((result, int(place.imag) * SIZE + int(place.real), turns, step))
    case.expect("out", out)
