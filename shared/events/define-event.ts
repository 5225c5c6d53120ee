import * as z from 'zod';
import type { JsonObject } from '#shared/json.ts';

/**
 * What there is to know about one type of event. A definition is the storage format: fields and types are
 * only ever added, and a change of shape is a new version with an upcaster from the one before.
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
  /** The kind of stream it belongs to, and the field that must hold that stream's key, if one does. */
  readonly stream: { readonly kind: string; readonly key: string | null };
  /** Only of what is the kernel’s own: of aggregates of the domain, their rights say it. */
  readonly told?: ToldTo;
  /** The data in clear, by strict zod objects. */
  readonly schema: Schema;
  /** Which fields are sealed under a person's key, and which field holds that person's id. */
  readonly personal: PersonalPart<string, Personal> | null;
  /**
   * From each earlier version to the one after it, by the earlier version; pure.
   * After an erasure it is called without the personal fields, which become `null` afterwards.
   */
  readonly upcasters: { readonly [version: number]: Upcaster };
  /**
   * What fields read as that are missing where an earlier release, which did not have them, wrote the event.
   */
  readonly absent?: JsonObject;
  /**
   * Tries what code makes of the data, without which nothing can be done with the event. Throws `RangeError`
   * where that fails.
   */
  readonly tryProjections?: (data: JsonObject) => void;
  /** Data that the schema accepts, for documentation. */
  readonly example: JsonObject;
  /** The schema of data whose personal fields were erased. */
  readonly erasedSchema: z.ZodObject;
};

/**
 * Of what is the kernel’s own, who is told of what happens to it: whoever has this right to what the user
 * owns whom a field names.
 */
type ToldTo = {
  readonly right: `${string}.${string}`;
  readonly owner: string;
  /** It is in the read model, so that it matters to administrators if it is taken out. */
  readonly isProjected?: true;
};

type PersonalPart<Subject extends string, Personal extends string> = {
  readonly subject: Subject;
  readonly fields: readonly Personal[];
  /** Those of them that are told to nobody, whoever may read the rest: secrets. */
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
