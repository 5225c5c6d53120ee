import type { StreamName, Version } from '#shared/brands.ts';
import { type Appended, NO_STREAM } from '../event-log.ts';
import { readRevisions, readRevisionsBackwards, type Reader } from './read.ts';
import { positionAt, versionAt } from './places.ts';

/** An append that may have been stored already; it is known by the ids of its events. */
type Sought = { readonly stream: StreamName; readonly events: readonly { readonly id: string }[] };
