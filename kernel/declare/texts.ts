import type * as z from 'zod';
import type { FieldDef } from './fields.ts';

/** The documentation of a field in responses: its author’s description, or one derived from its limits. */
export const textOf = (def: FieldDef): string | undefined => {
  const text = def.says ?? limitsInWords(def);
  const erased = def.personal?.erased;
  if (erased === undefined) return text;
  return `${text === undefined ? 'Text' : text.replace(/\.$/, '')}; “${erased}” for deleted users.`;
};

/** The documentation of a field in forms, which includes its limits. */
export const formTextOf = (def: FieldDef): string | undefined => {
  const texts = [def.says, limitsInWords(def)].filter((each) => each !== undefined);
  return texts.length === 0 ? undefined : texts.join(' ');
};

const NUMBERS = new Intl.NumberFormat('en');

const charactersInWords = (minLength: number, maxLength: number | undefined): string | undefined =>
  maxLength === undefined
    ? undefined
    : `${minLength > 0 ? `${minLength} to` : 'At most'} ${NUMBERS.format(maxLength)} characters.`;

const limitsInWords = (def: FieldDef): string | undefined => {
  const { minLength = 0, maxLength } = (def.demanded.meta() ?? {}) as {
    minLength?: number;
    maxLength?: number;
  };
  switch (def.kind) {
    case 'upload':
      if (def.file !== undefined)
        return `The address of a file (${def.file.types.join(', ')}) of at most ${NUMBERS.format(def.file.bytesMax)} bytes.`;
      return charactersInWords(minLength, maxLength);
    case 'text':
      return charactersInWords(minLength, maxLength);
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
