import { describe, expect, test } from 'vitest';
import { AsyncStackOfNode22, StackOfNode22 } from '../package/testing/dispose.ts';

const outcomeOf = async (act: () => unknown): Promise<unknown> => {
  try {
    return await act();
  } catch (error) {
    const { name, error: later, suppressed } = error as SuppressedError;
    return name === 'SuppressedError' ? { name, later: String(later), suppressed: String(suppressed) } : name;
  }
};

// The polyfill for Node 22 behaves like Node 24.
describe.each([
  ['what newer Nodes have', DisposableStack, AsyncDisposableStack],
  ['what Node 22 gets', StackOfNode22, AsyncStackOfNode22],
])('%s', (_whose, Stack, AsyncStack) => {
  test('disposes in reverse, once', () => {
    const said: string[] = [];
    const stack = new Stack();
    expect(stack.use({ [Symbol.dispose]: () => said.push('used') })).toBeDefined();
    expect(stack.use(undefined)).toBeUndefined();
    expect(stack.adopt('adopted', (value) => said.push(value))).toBe('adopted');
    stack.defer(() => said.push('deferred'));
    stack.dispose();
    stack.dispose();
    expect(said).toEqual(['deferred', 'adopted', 'used']);
    expect(stack.disposed).toBe(true);
    expect(String(stack)).toBe('[object DisposableStack]');
  });

  test('disposes after an error, and reports further errors', async () => {
    const said: string[] = [];
    const scope = async () => {
      await using stack = new AsyncStack();
      stack.defer(async () => void said.push('first'));
      stack.use({
        [Symbol.dispose]: () => {
          throw new Error('of the second');
        },
      });
      stack.defer(() => Promise.reject(new Error('of the third')));
    };
    expect(await outcomeOf(scope)).toEqual({
      name: 'SuppressedError',
      later: 'Error: of the second',
      suppressed: 'Error: of the third',
    });
    expect(said).toEqual(['first']);
  });

  test('leaves moved resources to another stack', async () => {
    const said: string[] = [];
    const opening = new AsyncStack();
    opening.defer(() => void said.push('disposed'));
    const moved = opening.move();
    await opening.disposeAsync();
    expect(said).toEqual([]);
    await moved.disposeAsync();
    expect(said).toEqual(['disposed']);
  });

  test('refuses values that cannot be disposed, and everything once it is disposed', async () => {
    const stack = new Stack();
    expect(await outcomeOf(() => stack.use({} as Disposable))).toBe('TypeError');
    stack.dispose();
    expect(await outcomeOf(() => stack.defer(() => {}))).toBe('ReferenceError');
    expect(await outcomeOf(() => stack.move())).toBe('ReferenceError');
  });
});
