/** Comes before every request and answer: closed, it holds them back in order, like a stopped process. */
export type Gate = {
  /** Now, or when the gate opens. */
  pass(action: () => void): void;
  opened(): Promise<void>;
  close(): void;
  open(): void;
};

const HELD_MAX = 100_000;

export const newGate = (): Gate => {
  let closed = false;
  let held: (() => void)[] = [];
  const pass = (action: () => void): void => {
    if (!closed) {
      action();
      return;
    }
    if (held.length >= HELD_MAX)
      throw new Error(`The paused stand-in already holds ${HELD_MAX} messages; resume it or send fewer.`);
    held.push(action);
  };
  return {
    pass,
    opened: () => new Promise((resolve) => pass(resolve)),
    close() {
      closed = true;
    },
    open() {
      closed = false;
      const released = held;
      held = [];
      for (const action of released) action();
    },
  };
};
