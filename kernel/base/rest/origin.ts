import * as z from 'zod';
import { shownSignature } from '../signature.ts';
import { timestamp } from '../values.ts';

/** Of the events of an import alone: whoever reads their time must see that it is claimed. */
export const IMPORTED_AT = timestamp.exactOptional().meta({
  description:
    'When an import recorded the event, whose time and actor are what its file claims. No other event has it.',
});

const seenBySome = (text: string): { readonly description: string } => ({
  description: `${text}. Only that user and administrators see it.`,
});

/** Of events whose command records a reason, if the caller gave one. */
export const REASON_GIVEN = z.string().exactOptional().meta({
  description: 'Why, as the actor said. Only events of commands that record a reason have it.',
});

/** Of events whose command a person has signed. */
export const SIGNATURE_GIVEN = shownSignature.exactOptional().meta({
  description: 'The signature of the person who signed the command. Only events of signed commands have it.',
});

/** How an event came about, in each of its forms. */
export const TRACE = {
  client: z.string().nullable().exactOptional().meta(seenBySome('The client through which the actor did it')),
  request: z.string().exactOptional().meta(seenBySome('The request that caused the event')),
  correlation: z
    .string()
    .exactOptional()
    .meta(seenBySome('The same for all events that follow from one request')),
  causation: z.string().nullable().exactOptional().meta(seenBySome('The id of the event that caused it')),
};
