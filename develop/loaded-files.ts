import { registerHooks } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

type Loaded<Result> = { readonly files: readonly string[]; readonly result: PromiseSettledResult<Result> };

/** Does some work, and finds the files of the project that are loaded by it. */
export const withLoadedFiles = async <Result>(work: () => Promise<Result>): Promise<Loaded<Result>> => {
  const files = new Set<string>();
  const hooks = registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) {
        const path = fileURLToPath(url);
        if (!path.includes(`${sep}node_modules${sep}`)) files.add(path);
      }
      return next(url, context);
    },
  });
  try {
    const [result] = await Promise.allSettled([work()]);
    return { files: [...files], result };
  } finally {
    hooks.deregister();
  }
};
