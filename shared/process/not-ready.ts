/**
 * Why something cannot do its work, in words for anybody who asks `/readyz`: they name no host, no folder and
 * no user.
 */
export class NotReady extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'NotReady';
  }
}
