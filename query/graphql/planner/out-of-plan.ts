/**
 * The planner leaves an operation to the resolvers: it is of a kind that is not planned, or has an argument
 * that they must refuse.
 */
export class OutOfPlan extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'OutOfPlan';
  }
}
