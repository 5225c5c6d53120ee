import type { Kind } from '../registry/registry.ts';
import { eachKind, type Sentences } from './refusals.ts';

/** Refuses labels that are no value of the aggregate itself, which a reference could show beside the id. */
export const demandLabels = eachKind(function* ({ label, ...kind }: Kind): Sentences {
  const what = label === undefined ? undefined : otherThanValue(label, kind);
  if (what !== undefined)
    yield `the label ${label} is ${what}, which a reference cannot show: use a field with a value of its own.`;
});

const otherThanValue = (label: string, { fields, lists }: Pick<Kind, 'fields' | 'lists'>) => {
  if (Object.hasOwn(lists, label)) return 'a list';
  if (!Object.hasOwn(fields, label)) return 'not one of its fields';
  return fields[label]?.kind === 'ref' ? 'a reference' : undefined;
};
