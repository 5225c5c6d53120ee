import type { RequestListener } from 'node:http';
import { Provider } from 'oidc-provider';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';
import { createProvider, type ProviderDependencies } from './create-provider.ts';

/** The provider with the keys of the moment. */
export type CurrentProvider = {
  /** The same object for ever, behind which the provider changes. */
  readonly provider: Provider;
  readonly handle: RequestListener;
  readonly keys: () => SigningKeys;
  use(keys: SigningKeys): void;
};

type Dependencies = Omit<ProviderDependencies, 'tokens'> & { tokensWith(keys: () => SigningKeys): ProviderDependencies['tokens'] };

/** Requests that are under way finish with the provider that they began with. */
export const createCurrentProvider = ({ tokensWith, ...dependencies }: Dependencies): CurrentProvider => {
  let current: { provider: Provider; handle: RequestListener; keys: SigningKeys } | undefined;
  const demand = () => {
    if (current === undefined) throw new Error('the provider was used before it had keys');
    return current;
  };
  const keys = () => demand().keys;
  const tokens = tokensWith(keys);
  return {
    provider: standIn(() => demand().provider),
    handle: (request, response) => demand().handle(request, response),
    keys,
    use(keys) {
      const provider = createProvider({ ...dependencies, tokens }, keys);
      current = { provider, handle: provider.callback(), keys };
    },
  };
};

/** Passes everything on to the provider of the moment; its methods need it as their `this`. */
const standIn = (provider: () => Provider): Provider =>
  new Proxy(Object.create(Provider.prototype) as Provider, {
    get(_, property) {
      const target = provider();
      const value: unknown = Reflect.get(target, property, target);
      return isMethod(property) && typeof value === 'function' ? value.bind(target) : value;
    },
  });

/** Its models are classes, which are had by getters, and stay as they are. */
const isMethod = (property: string | symbol): boolean => {
  for (let prototype: object | null = Provider.prototype; prototype !== null; prototype = Object.getPrototypeOf(prototype)) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, property);
    if (descriptor !== undefined) return typeof descriptor.value === 'function';
  }
  return false;
};
