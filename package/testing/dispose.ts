// Node 22 has `Symbol.dispose` but no disposable stacks (ECMAScript 2026, explicit resource management).
// Newer versions have both, and this does nothing.

type Dispose = () => unknown;

/**
 * Disposes everything it holds in reverse order; of several errors, each later one refers to the one that it
 * suppressed.
 */
abstract class Held {
  protected abstract readonly disposeOf: (resource: object) => Dispose;
  #held: Dispose[] | undefined = [];

  get disposed(): boolean {
    return this.#held === undefined;
  }
  use<Resource extends object | null | undefined>(resource: Resource): Resource {
    const held = this.#demand();
    if (resource !== null && resource !== undefined) held.push(this.disposeOf(resource));
    return resource;
  }
  adopt<Value>(value: Value, dispose: (value: Value) => unknown): Value {
    this.#demand().push(() => dispose(value));
    return value;
  }
  defer(dispose: Dispose): void {
    this.#demand().push(dispose);
  }
  move(): this {
    const moved = new (this.constructor as new () => this)();
    moved.#held = this.#demand();
    this.#held = undefined;
    return moved;
  }
  protected take(): readonly Dispose[] {
    const held = this.#held ?? [];
    this.#held = undefined;
    return held.toReversed();
  }
  #demand(): Dispose[] {
    if (this.#held === undefined) throw new ReferenceError('this stack is disposed');
    return this.#held;
  }
}

/** The result of a synchronous method is not awaited. */
const disposeBy =
  (...symbols: readonly symbol[]) =>
  (resource: object): Dispose => {
    const [symbol, method] =
      symbols.map((each) => [each, Reflect.get(resource, each)]).find(([, found]) => found != null) ?? [];
    if (typeof method !== 'function')
      throw new TypeError('a value that the stack should dispose of has no dispose method');
    return () => {
      const returned = Reflect.apply(method, resource, []);
      return symbol === Symbol.dispose ? undefined : returned;
    };
  };

class Failures {
  #error: unknown;
  #hasFailed = false;

  add(error: unknown): void {
    this.#error = this.#hasFailed ? new SuppressedError(error, this.#error) : error;
    this.#hasFailed = true;
  }
  throw(): void {
    if (this.#hasFailed) throw this.#error;
  }
}

class SuppressedErrorOfNode22 extends Error {
  readonly error: unknown;
  readonly suppressed: unknown;

  constructor(error: unknown, suppressed: unknown, message?: string) {
    super(message);
    this.name = 'SuppressedError';
    this.error = error;
    this.suppressed = suppressed;
  }
}

export class StackOfNode22 extends Held {
  protected override readonly disposeOf = disposeBy(Symbol.dispose);
  readonly [Symbol.toStringTag] = 'DisposableStack';

  dispose(): void {
    const failures = new Failures();
    for (const dispose of this.take()) {
      try {
        dispose();
      } catch (error) {
        failures.add(error);
      }
    }
    failures.throw();
  }
  [Symbol.dispose](): void {
    this.dispose();
  }
}

export class AsyncStackOfNode22 extends Held {
  protected override readonly disposeOf = disposeBy(Symbol.asyncDispose, Symbol.dispose);
  readonly [Symbol.toStringTag] = 'AsyncDisposableStack';

  async disposeAsync(): Promise<void> {
    const failures = new Failures();
    for (const dispose of this.take()) {
      try {
        await dispose();
      } catch (error) {
        failures.add(error);
      }
    }
    failures.throw();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync();
  }
}

const provided = {
  DisposableStack: StackOfNode22,
  AsyncDisposableStack: AsyncStackOfNode22,
  SuppressedError: SuppressedErrorOfNode22,
};
for (const [name, value] of Object.entries(provided))
  if (!(name in globalThis))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
