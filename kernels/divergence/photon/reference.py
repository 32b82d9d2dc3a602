import numpy as np

F = np.float32


def xorshift(state):
    while True:
        state ^= state << 13 & 0xffffffff
        state ^= state >> 17
        state ^= state << 5 & 0xffffffff
        yield F((state >> 8) * 2.0**-24)


def exponential(draws):
    """Von Neumann: the length of a falling run of uniform numbers is odd for a share e^-x of its first ones."""
    whole = 0
    while True:
        first = last = next(draws)
        length = 1
        while (drawn := next(draws)) < last:
            last, length = drawn, length + 1
        if length % 2:
            return F(whole) + first
        whole += 1


def direction(draws):
    while True:
        way = np.array([F(2) * next(draws) - F(1) for _ in range(3)], F)
        square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2]
        if F(2.0**-10) <= square <= 1:
            return way * (F(1) / np.sqrt(square))


def walk(seed, tissue, reach, albedo, deposits):
    draws, size = xorshift(seed), len(tissue)
    place, way, weight = np.array([size / 2, size / 2, 0.5], F), np.array([0, 0, 1], F), F(1)
    event = 0
    while True:
        x, y, z = place.astype(int)
        if not tissue[z, y, x]:
            return int(weight * F(65536))
        place = place + way * (exponential(draws) * reach[tissue[z, y, x]])
        if not np.all((place >= 0) & (place < size)):
            return int(weight * F(65536))
        x, y, z = place.astype(int)
        kept = weight * albedo[tissue[z, y, x]]
        deposits[z, y, x] += int((weight - kept) * F(65536))
        weight = kept
        if weight < F(0.0625):
            if next(draws) >= F(0.25):
                return -event
            weight *= F(4)
        way = direction(draws)
        event += 1


def reference(case):
    size, photons = case.args()[1], case.args()[4]
    z, y, x = np.indices((size, size, size))
    tissue = 1 + (z >= 2) + (z >= 5)  # skin, fat, muscle
    tissue[(x - 3)**2 + (y - 8)**2 + (z - 6)**2 < 5] = 0
    case.input("tissue", tissue)
    reach, albedo = np.array([1, 0.75, 1.5, 0.5], F), np.array([0, 0.875, 0.96875, 0.75], F)
    np.save(f"{case.directory}/reach.npy", reach)
    np.save(f"{case.directory}/albedo.npy", albedo)
    deposits = np.zeros(tissue.shape, np.int64)
    seeds = [(photon * 2654435761 + 12345) % 2**32 for photon in range(photons)]
    case.expect("fates", [walk(seed, tissue, reach, albedo, deposits) for seed in seeds])
    case.expect("deposits", deposits)
