"""This machine's first GPU through the CUDA driver, for gpu_lanes and gpu_programs."""
import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *args):
    status = getattr(cuda, name)(*args)
    if status != 0:
        sys.exit(f"{name} failed: {status}")


def open_device():
    """Makes the GPU current, and returns its name."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    name = ctypes.create_string_buffer(100)
    call("cuDeviceGetName", name, 100, device)
    return name.value.decode()


def allocate(words):
    memory = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(4 * words))
    return memory


def read(memory, words):
    host = (ctypes.c_uint32 * words)()
    call("cuMemcpyDtoH_v2", host, memory, ctypes.c_size_t(4 * words))
    return list(host)


def launch(module, kernel, ctas, threads, memory):
    """Runs a kernel whose parameters are pointers to these pieces of memory, to its end."""
    function = ctypes.c_void_p()
    call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
    arguments = (ctypes.c_void_p * len(memory))(*[ctypes.addressof(one) for one in memory])
    call("cuLaunchKernel", function, ctas, 1, 1, threads, 1, 1, 0, None, arguments, None)
    call("cuCtxSynchronize")
