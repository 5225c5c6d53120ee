/**
 * The reason why a component is not ready, for public display at `/readyz`: it names no host, folder or user.
 */
export class NotReady extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'NotReady';
  }
}
