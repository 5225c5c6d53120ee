/**
 * The planner leaves an operation to the resolvers: it does not support it, or an argument must be refused
 * there.
 */
export class OutOfPlan extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'OutOfPlan';
  }
}
