import type { FieldDef } from '../declare/fields.ts';
import type { Kind } from '../registry/registry.ts';

/** True if the text may have several lines, so that forms need an area for it. */
export const hasLines = ({ kind, demanded }: FieldDef): boolean =>
  kind === 'text' && demanded.safeParse('two\nlines').success;

/** The field that names an item: the declared label, otherwise the first required text, preferably of one line. */
export const labelField = ({ label, fields }: Pick<Kind, 'label' | 'fields'>): string | undefined => {
  const texts = Object.keys(fields).filter((name) => fields[name]?.kind === 'text' && !fields[name].optional);
  return label ?? texts.find((name) => !hasLines(fields[name] as FieldDef)) ?? texts[0];
};
