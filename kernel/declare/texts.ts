import type * as z from 'zod';
import type { FieldDef } from './fields.ts';

/**
 * What documentation says of a field that is read: what its author says, or else what follows from its
 * limits.
 */
export const textOf = (def: FieldDef): string | undefined => {
  const text = def.says ?? limitsOf(def);
  const erased = def.personal?.erased;
  if (erased === undefined) return text;
  return `${text === undefined ? 'Text' : text.replace(/\.$/, '')}; “${erased}” of those who were deleted.`;
};

/** Of a field that is written: its limits too. */
export const formTextOf = (def: FieldDef): string | undefined => {
  const texts = [def.says, limitsOf(def)].filter((each) => each !== undefined);
  return texts.length === 0 ? undefined : texts.join(' ');
};

const NUMBERS = new Intl.NumberFormat('en');

const limitsOf = (def: FieldDef): string | undefined => {
  const { minLength = 0, maxLength } = (def.demanded.meta() ?? {}) as {
    minLength?: number;
    maxLength?: number;
  };
  switch (def.kind) {
    case 'text':
    case 'upload':
      if (maxLength === undefined) return undefined;
      return `${minLength > 0 ? `${minLength} to` : 'At most'} ${NUMBERS.format(maxLength)} characters.`;
    case 'integer': {
      const { minValue, maxValue } = def.demanded as z.ZodNumber;
      return `${NUMBERS.format(minValue ?? 0)} to ${NUMBERS.format(maxValue ?? 0)}.`;
    }
    case 'set':
    case 'list':
      return `At most ${NUMBERS.format(def.max ?? 0)}.`;
    default:
      return undefined;
  }
};
