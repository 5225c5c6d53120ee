import { publishing } from '#domain/publishing.ts';
import { isOfLog, type RestOperation } from '#kernel/base/rest/operation.ts';
import { operationsOf } from '#shared/rest/operations.ts';

/** All described operations of publishing, by operation id. */
export const DESCRIBED: Readonly<Record<string, RestOperation>> = operationsOf(publishing);

/** The operations on data in the log. */
export const OPERATIONS: Readonly<Record<string, RestOperation>> = Object.fromEntries(
  Object.entries(DESCRIBED).filter(([, operation]) => isOfLog(operation)),
);

export const operation = (id: string): RestOperation => {
  const found = DESCRIBED[id];
  if (found === undefined) throw new Error(`There is no operation ${id}`);
  return found;
};
