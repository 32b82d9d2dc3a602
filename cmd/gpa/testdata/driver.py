"""Calls the CUDA driver by ctypes: threads, a fork, a callback, strings, managed memory."""
import ctypes
import os
import threading

driver = ctypes.CDLL("libcuda.so.1")


def must(result):
    assert result == 0, result


def context():
    handle = ctypes.c_void_p()
    must(driver.cuInit(0))
    must(driver.cuDevicePrimaryCtxRetain(ctypes.byref(handle), 0))
    must(driver.cuCtxSetCurrent(handle))
    return handle


def managed(letter):
    addr = ctypes.c_uint64()
    must(driver.cuMemAllocManaged(ctypes.byref(addr), ctypes.c_size_t(64), 1))
    ctypes.memset(addr.value, ord(letter), 4)
    back = ctypes.create_string_buffer(4)
    must(driver.cuMemcpyDtoH_v2(back, addr, ctypes.c_size_t(4)))
    return addr.value, back.raw


name = ctypes.c_char_p()
must(driver.cuGetErrorName(700, ctypes.byref(name)))
print(700, name.value)

handle = context()
done = []


def work():
    must(driver.cuCtxSetCurrent(handle))
    addr = ctypes.c_uint64()
    for _ in range(50):
        must(driver.cuMemAlloc_v2(ctypes.byref(addr), ctypes.c_size_t(100)))
        must(driver.cuMemFree_v2(addr))
    done.append(1)


threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("threads", len(done))

mine, seen = managed("A")
print("managed", seen, flush=True)
child = os.fork()
if child == 0:  # a process of its own, with memory of its own at the same addresses
    context()
    print("child", 0, managed("B")[1], flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert ctypes.string_at(mine, 4) == b"AAAA"

called = []
function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(called.append)
must(driver.cuLaunchHostFunc(None, function, ctypes.c_void_p(77)))
print("called", called)
