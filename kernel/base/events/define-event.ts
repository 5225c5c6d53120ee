import * as z from 'zod';
import type { JsonObject } from '../json.ts';

/**
 * Everything about one type of event. A definition is the storage format: fields and types are only ever
 * added, and a change of shape is a new version with an upcaster from the one before.
 */
export type EventDefinition<
  Type extends string = string,
  Schema extends z.ZodObject = z.ZodObject,
  Personal extends string = string,
> = {
  readonly type: Type;
  /** The version that is written now, from 1. */
  readonly version: number;
  /**
   * Public events reach feeds, webhooks and subscriptions; internal ones only the log and those who audit it.
   */
  readonly visibility: 'public' | 'internal';
  /** One sentence for the catalogue. */
  readonly description: string;
  /** Its kind of stream, and the field that must hold that stream’s key, if one does. */
  readonly stream: { readonly kind: string; readonly key: string | null };
  /** Only for kernel events; for aggregates of the domain, their rights decide. */
  readonly visibleTo?: VisibleTo;
  /** The data in clear, by strict zod objects. */
  readonly schema: Schema;
  /** The fields that are sealed under a person’s key, and the field that holds that person’s id. */
  readonly personal: PersonalPart<string, Personal> | null;
  /**
   * From each earlier version to the one after it, by the earlier version; pure. After an erasure it is
   * called without the personal fields, which become `null` afterwards.
   */
  readonly upcasters: { readonly [version: number]: Upcaster };
  /** The values of fields that an earlier release did not write yet. */
  readonly absent?: JsonObject;
  /** Data that the schema accepts, for documentation. */
  readonly example: JsonObject;
  /** The schema of data whose personal fields were erased. */
  readonly erasedSchema: z.ZodObject;
};

/** The visibility of a kernel event: visible to those with this right to what the user in this field owns. */
type VisibleTo = {
  readonly right: `${string}.${string}`;
  readonly owner: string;
  /** The aggregate is in the read model, so administrators see if it is taken out. */
  readonly isProjected?: true;
};

type PersonalPart<Subject extends string, Personal extends string> = {
  readonly subject: Subject;
  readonly fields: readonly Personal[];
  /** Secret fields, which nobody sees, whatever else they may read. */
  readonly concealed?: readonly Personal[];
};

type Upcaster = (data: JsonObject) => JsonObject;

/** The data as the code sees it: current version, and `null` for personal fields whose key was destroyed. */
export type DataOf<Definition> =
  Definition extends EventDefinition<string, infer Schema, infer Personal>
    ? {
        readonly [Field in keyof z.infer<Schema>]:
          | z.infer<Schema>[Field]
          | (Field extends Personal ? null : never);
      }
    : never;

type Authored<Type extends string, Schema extends z.ZodObject, Personal extends string> = Omit<
  EventDefinition<Type, Schema, Personal>,
  'erasedSchema' | 'personal' | 'example' | 'stream'
> & {
  readonly stream: { readonly kind: string; readonly key: (keyof z.infer<Schema> & string) | null };
  readonly personal: PersonalPart<keyof z.infer<Schema> & string, Personal & keyof z.infer<Schema>> | null;
  readonly example: z.input<Schema> & JsonObject;
};

export const defineEvent = <
  const Type extends string,
  Schema extends z.ZodObject,
  const Personal extends string = never,
>(
  definition: Authored<Type, Schema, Personal>,
): EventDefinition<Type, Schema, Personal> => {
  const shape: Record<string, z.ZodType> = { ...definition.schema.shape };
  for (const field of definition.personal?.fields ?? [])
    shape[field] = z.nullable(shape[field] ?? z.unknown());
  return { ...definition, erasedSchema: z.strictObject(shape) };
};
