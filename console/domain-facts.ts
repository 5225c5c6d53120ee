import type { FieldDef } from '#kernel/declare/fields.ts';
import type { CommandKind } from '#kernel/registry/registry.ts';

/**
 * The declaration for the console: the aggregates with their fields, lists and commands. It has nothing that
 * `/openapi.json` withholds; the links of items show what a caller may do.
 */
export type DomainFacts = {
  readonly name: string;
  readonly kinds: readonly KindFacts[];
  readonly views: readonly ViewFacts[];
  /** Whether webhooks are served. */
  readonly hasWebhooks: boolean;
  /** Whether messages of senders are received. */
  readonly hasInbox: boolean;
  /** Whether its files can be changed here: only in development. */
  readonly isDeveloped: boolean;
  /** The fields by which webhooks filter events. */
  readonly filters: readonly FieldFacts[];
};

export type KindFacts = {
  readonly name: string;
  /** The segment of paths, and the relation by which a parent links to its children of this kind. */
  readonly path: string;
  /** The relation by which a parent links to the creation of a child. */
  readonly rel: string;
  readonly title: string;
  readonly plural: string;
  readonly says?: string | undefined;
  /** The field shown as the name of an item. */
  readonly label?: string | undefined;
  /** Each read of an item is recorded. */
  readonly isReadLogged: boolean;
  readonly owner?: string | undefined;
  /** The roles that may create one for another owner. */
  readonly namers: readonly string[];
  /** The kind of the parent, and the reference to it. */
  readonly parent?: { readonly kind: string; readonly field: string } | undefined;
  readonly fields: readonly FieldFacts[];
  readonly lists: readonly ListFacts[];
  readonly commands: readonly CommandFacts[];
  readonly uploads: readonly UploadFacts[];
  readonly list: ListingFacts;
  /** The query of one item, and fields that it can select; undefined if GraphQL is not served. */
  readonly graphql?: { readonly field: string; readonly selection: string } | undefined;
  /** Of the requests of agents: the commands that they ask for. */
  readonly confirms?: readonly ConfirmedFacts[] | undefined;
};

type ConfirmedFacts = {
  readonly type: string;
  readonly kind: string;
  readonly command: string;
  /** As “Approve claim”. */
  readonly title: string;
  readonly isCreation: boolean;
};

export type FieldFacts = {
  readonly name: string;
  /** The name in forms. */
  readonly wire: string;
  readonly title: string;
  readonly says?: string | undefined;
  readonly type: FieldDef['kind'];
  /** An upload that is no picture. */
  readonly isFile?: boolean | undefined;
  readonly hasLines?: boolean | undefined;
  readonly isMarkdown?: boolean | undefined;
  /** The kind of a reference’s target, and the field of it that is shown. */
  readonly of?: string | undefined;
  readonly label?: string | undefined;
  /** The link to the target. */
  readonly rel?: string | undefined;
  readonly values?: readonly string[] | undefined;
  readonly means?: Readonly<Record<string, string>> | undefined;
};

export type ListFacts = {
  readonly name: string;
  readonly path: string;
  readonly title: string;
  readonly one: string;
  /** The key of an item. */
  readonly id: string;
  readonly isOrdered: boolean;
  readonly fields: readonly FieldFacts[];
  readonly uploads: readonly UploadFacts[];
};

/** A field of a form, with its constraints. */
export type FormFieldFacts = FieldFacts & {
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  /** The reason of the command, which is no field of its form. */
  readonly isReason?: boolean | undefined;
  readonly initial?: unknown;
  readonly schema: {
    readonly maxLength?: number;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly format?: string;
  };
};

export type CommandFacts = {
  readonly name: string;
  readonly title: string;
  readonly says?: string | undefined;
  readonly does: CommandKind;
  /** The word by which its path ends, if that is not the path of the list or of the item. */
  readonly verb?: string | undefined;
  /** The link that an item has if the command is possible. */
  readonly rel: string;
  readonly list?: string | undefined;
  readonly form: readonly FormFieldFacts[];
};

export type UploadFacts = {
  readonly field: string;
  readonly title: string;
  readonly rel: string;
  /** The media types that the field accepts. */
  readonly types: readonly string[];
  readonly isPicture: boolean;
};

/** Numbers and latest values by a key. */
export type ViewFacts = {
  readonly name: string;
  readonly path: string;
  readonly title: string;
  readonly says?: string | undefined;
  /** The fields of rows, the key first. */
  readonly fields: readonly FieldFacts[];
  readonly filters: readonly FieldFacts[];
  readonly sorts: readonly string[];
  /** The roles that may read some of its rows. */
  readonly readers: readonly string[];
};

/** The filters and orders of a kind’s lists. */
export type ListingFacts = {
  /** The path of the list of all; without it, they are listed under their parents only. */
  readonly path?: string | undefined;
  readonly hasSearch: boolean;
  readonly filters: readonly FieldFacts[];
  readonly sorts: readonly string[];
};
