# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of gdb: `machbed WORD ...`. A function becomes one; its comment is the help."""
import gdb

from machbed import link


class Group(gdb.Command):
    """Commands for the servers of Machbed; docs/debugging.md shows each."""

    def __init__(self):
        super().__init__("machbed", gdb.COMMAND_STATUS, prefix=True)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("there is no `machbed %s`; `help machbed` says what there is" % argument)
        gdb.execute("help machbed")


class Word(gdb.Command):
    def __init__(self, name, function):
        self.__doc__ = function.__doc__
        self.function = function
        super().__init__("machbed " + name, gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("there is no machine any more")
        try:
            self.function(*gdb.string_to_argv(argument))
        except gdb.MemoryError as error:
            raise gdb.GdbError("this cannot be read: %s" % error)
        except link.LinkError as error:
            raise gdb.GdbError(str(error))
        except TypeError as error:
            if "positional argument" not in str(error):
                raise
            raise gdb.GdbError(self.__doc__)


def command(name):
    """Makes the function below it the command `machbed NAME`."""
    def make(function):
        Word(name, function)
        return function
    return make


Group()
