/** The arguments of the command line are invalid. The message continues “annals: …”. */
export class UsageError extends Error {
  readonly code = 'usage_error';

  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
