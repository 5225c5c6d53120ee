import type { EventStoreDBClient } from '@eventstore/db-client';
import { withoutHost } from './address.ts';
import { type Connection, connect } from './client.ts';

/**
 * The client that reads and subscribes. One whose connection has fallen silent is replaced by another with a
 * connection of its own; its reads fail, so that their callers retry.
 */
export class ReadConnection implements AsyncDisposable {
  readonly #url: string;
  readonly #closing = new Set<Promise<void>>();
  #current: Connection;
  #received = 0;
  /** How often a search was given up since the last one that ended: the next may take longer. */
  searchesTimedOut = 0;

  constructor(url: string) {
    this.#url = url;
    this.#current = connect(url);
  }

  get client(): EventStoreDBClient {
    return this.#current.client;
  }

  /** Reads all streams that begin with a prefix. */
  readAll(...given: Parameters<Connection['readAll']>): ReturnType<Connection['readAll']> {
    return this.#current.readAll(...given);
  }

  /** Counts what has been received for any read. */
  get received(): number {
    return this.#received;
  }

  onReceived(): void {
    this.#received += 1;
  }

  /** Replaces a client, unless that was done already. */
  replace(former: EventStoreDBClient): void {
    if (former === this.client) this.#connectTo(this.#url);
  }

  /** Leaves a host that does not serve, and does not ask it who leads. */
  leave(host: string | undefined): void {
    if (host === this.#current.target()) this.#connectTo(withoutHost(this.#url, host));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close(this.#current);
    await Promise.all(this.#closing);
  }

  #connectTo(url: string): void {
    const former = this.#current;
    this.#current = connect(url);
    this.#close(former);
  }

  #close(connection: Connection): void {
    const closing = connection.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
