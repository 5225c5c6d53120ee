import { QUARANTINE } from './quarantine.ts';

/** The setting with the patterns that a step leaves out, as JSON. */
export const WITHOUT = 'ANNALS_TEST_WITHOUT';

type Project = { readonly test: { readonly name: string; readonly exclude?: string[] } };

/**
 * A project without the files that this run leaves out. `--exclude` of vitest would not do: a project with patterns
 * of its own ignores it.
 */
export const withoutLeftOut = <Of extends Project>({ test }: Of) => {
  const without = JSON.parse(process.env[WITHOUT] ?? '[]') as readonly string[];
  // The gate leaves quarantined files to `test:all`.
  const quarantined = process.env.ANNALS_TEST_TIER === 'gate' ? Object.keys(QUARANTINE) : [];
  return {
    test: { ...test, exclude: [...(test.exclude ?? []), '**/node_modules/**', ...without, ...quarantined] },
  };
};
