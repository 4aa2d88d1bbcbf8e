"""CPU time of processes, of the threads of one program, and of the machine, as the kernel counts it. Not here: what is measured by it."""
import contextlib, os, threading

TICK = os.sysconf("SC_CLK_TCK")


def seconds_of(process):
    """User and system time of a process, and of those of its children that have ended."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK


def children(process):
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/children") as file:
                yield from map(int, file.read().split())


def seconds_of_tree(process):
    """The same with its children that live. One that ends between the two looks is counted by the second."""
    seconds = 0
    for child in children(process):
        with contextlib.suppress(OSError):
            seconds += seconds_of(child)
    return seconds + seconds_of(process)


def seconds_of_machine():
    """What all cores have done, but for waiting."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, interrupts, soft, _ = map(int, file.readline().split()[1:9])
    return (user + nice + system + interrupts + soft) / TICK


def name_of(place):
    with open(f"{place}/comm") as file:
        return file.read().strip()


class ThreadClock(threading.Thread):
    """CPU seconds of the threads of a program that runs as a child of this one. The kernel forgets them as they end, so they are looked
    at again and again; what a thread does in its last hundredths of a second is missed."""

    def __init__(self, program):
        super().__init__(daemon=True)
        self.program, self.threads, self.ended = program, {}, threading.Event()

    def run(self):
        while not self.ended.wait(0.03):
            for process in children(os.getpid()):
                with contextlib.suppress(OSError):
                    self.look_at(process)

    def look_at(self, process):
        if name_of(f"/proc/{process}") != self.program:
            return
        for thread in os.listdir(f"/proc/{process}/task"):
            place = f"/proc/{process}/task/{thread}"
            with contextlib.suppress(OSError), open(f"{place}/schedstat") as file:
                self.threads[thread] = name_of(place), int(file.read().split()[0]) / 1e9

    def seconds(self, piece):
        """Of the threads with this piece in their names."""
        return sum(seconds for name, seconds in self.threads.values() if piece in name)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()
