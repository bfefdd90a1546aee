# Copyright (c) 2026 the sysipc_asio authors.
# Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

import argparse


class Parser(argparse.ArgumentParser):
    """Tells in one line what is wrong."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message} (see --help)\n")
