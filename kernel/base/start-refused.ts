/**
 * The process cannot start for a reason that its operator can change: the message is sufficient, and a stack
 * useless.
 */
export class StartRefused extends Error {
  readonly exitCode: number;

  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options);
    this.name = 'StartRefused';
    this.exitCode = exitCode;
  }
}

/** The process received a stop signal while it started, and has stopped in order. */
export class StartInterrupted extends StartRefused {
  constructor(message: string, options: ErrorOptions = {}) {
    super(message, { ...options, exitCode: 0 });
    this.name = 'StartInterrupted';
  }
}
