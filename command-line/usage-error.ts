/** The command line was called in a way that it does not understand. The message continues “annals: …”. */
export class UsageError extends Error {
  readonly code = 'usage_error';

  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
