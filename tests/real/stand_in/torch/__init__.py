"""Stands in for PyTorch, which TileLang imports for the tensors of a host. Making PTX uses none, so
whatever is asked for here is an empty type, and whatever is called says no."""

import importlib.machinery
import sys
import types


class Kind(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Kind(name, (), {})

    def __call__(cls, *arguments, **named):
        return False


class Module(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        kind = Kind(name, (), {})
        setattr(self, name, kind)
        return kind


class Finder:
    """Any `torch.x.y` is such a module too."""

    def find_spec(self, name, path, target=None):
        if name.startswith("torch."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        pass


__version__ = "0"
__path__ = []
version = types.SimpleNamespace(hip=None, cuda=None)
sys.modules[__name__].__class__ = Module
sys.meta_path.append(Finder())
