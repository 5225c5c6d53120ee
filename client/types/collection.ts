import type { Listing } from '../pages.ts';
import type {
  ActionFormOf,
  ActionNames,
  AdditionBy,
  CommandNames,
  Creation,
  Edit,
  FileFields,
  FurtherAdditions,
  Replacement,
} from './commands.ts';
import type { CommandsOf, Flat } from './declared.ts';
import type { At, PageOptions, ReadOptions, Signature, Target, WriteOptions } from './options.ts';
import type { ListQuery, OfOwner } from './queries.ts';
import type { Item, Link, Written } from './representation.ts';

type HistoryEntry = {
  readonly version: number;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  /** When an import recorded it, which claims its time and its actor. */
  readonly importedAt?: string;
  /** Why, as the actor said, if the command records a reason. */
  readonly reason?: string;
  /** The signature of the person who signed the command, if it has `signed`. */
  readonly signature?: Signature;
  readonly cursor: string;
  readonly actor: string | null;
  readonly changes: readonly {
    readonly field: string;
    readonly from?: unknown;
    readonly to?: unknown;
    readonly diff?: string;
  }[];
  readonly erased?: true;
  readonly unreadable?: true;
  readonly _links: Readonly<Record<string, Link>>;
};

export type Reads<A, D> = {
  get(id: number, query?: At, options?: ReadOptions): Promise<Item<A, D>>;
  /** The changes with their authors, the latest first. */
  history(id: number, query?: PageOptions, options?: ReadOptions): Listing<HistoryEntry>;
};
type If<Names, Methods> = [Names] extends [never] ? unknown : Methods;
export type Lister<A, D> = {
  list(query?: Flat<ListQuery<A> & OfOwner<A>>, options?: ReadOptions): Listing<Item<A, D>>;
};
export type Creator<A> = If<
  CommandNames<A, 'create'>,
  { create(form: Creation<A>, options?: WriteOptions): Promise<Written> }
>;

/** The commands that have REST methods of their own. */
export type Writes<A> = If<
  CommandNames<A, 'edit'>,
  {
    /** Changes the given fields only. */
    edit(target: Target, form: Edit<A>, options?: WriteOptions): Promise<Written>;
    /** Replaces all fields that can be changed. */
    replace(target: Target, form: Replacement<A>, options?: WriteOptions): Promise<Written>;
  }
> &
  If<CommandNames<A, 'end'>, { delete(target: Target, options?: WriteOptions): Promise<void> }> &
  If<
    FileFields<A>,
    {
      /**
       * Uploads a picture or another file with its media type. A stream is sent once; any other body is
       * retried if needed.
       */
      putFile(
        target: Target,
        field: FileFields<A>,
        file: Blob | ReadableStream<Uint8Array>,
        options?: FileOptions,
      ): Promise<Written>;
      deleteFile(target: Target, field: FileFields<A>, options?: WriteOptions): Promise<void>;
    }
  >;
type FileOptions = WriteOptions & {
  /** The media type, if the file does not say it. */
  readonly type?: string;
  /** The name of the file, if it is no `File` with a name. Pictures have none. */
  readonly name?: string;
};

/** The names of the client's own methods. */
type Reserved =
  | 'get'
  | 'list'
  | 'history'
  | 'aggregate'
  | 'create'
  | 'edit'
  | 'replace'
  | 'delete'
  | 'putFile'
  | 'deleteFile'
  | 'of'
  | 'command'
  | 'then';
type Action<Form> = undefined extends Form
  ? (target: Target, form?: undefined, options?: WriteOptions) => Promise<Written>
  : (target: Target, form: Form, options?: WriteOptions) => Promise<Written>;
export type Actions<A> = {
  readonly [N in Exclude<ActionNames<A>, Reserved>]: Action<ActionFormOf<A, N & keyof CommandsOf<A>>>;
} & {
  readonly [N in Exclude<FurtherAdditions<A>, Reserved>]: (
    target: Target,
    form: AdditionBy<A, N>,
    options?: WriteOptions,
  ) => Promise<Written>;
} & If<
    ActionNames<A>,
    {
      /** Sends a command by name, if its name is also one of the client's own methods. */
      command<N extends ActionNames<A>>(
        target: Target,
        name: N,
        form?: ActionFormOf<A, N & keyof CommandsOf<A>>,
        options?: WriteOptions,
      ): Promise<Written>;
    }
  >;
