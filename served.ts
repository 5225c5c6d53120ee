import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isDomain } from '#process/demand-served.ts';
import type { ServedParts } from '#process/run-role.ts';
import { ALL_PARTS } from './parts.ts';

/** The publishing domain, or the domain that a file exports, with all parts. */
export const servedBy = (file: string): ServedParts =>
  file === ''
    ? {
        parts: ALL_PARTS,
        domain: async () => (await import('#domain/publishing.ts')).publishing,
        demo: () => import('#domain/demo/demo.ts'),
      }
    : { parts: ALL_PARTS, domain: () => domainIn(file) };

/** The domain of this installation. It is read before the other settings, which depend on it. */
export const served = servedBy(process.env.DOMAIN_FILE ?? '');

const domainIn = async (file: string): Promise<Domain> => {
  const path = resolve(file);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new StartRefused(`DOMAIN_FILE names ${file}, and there is no such file in ${process.cwd()}.`);
  const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href);
  const [domain, ...others] = new Set(Object.values(exported).filter(isDomain));
  if (domain === undefined)
    throw new StartRefused(
      `${file} exports no domain: write \`export const shop = assemble(base, […])\` in it.`,
    );
  if (others.length > 0)
    throw new StartRefused(`${file} exports ${others.length + 1} domains: name a file that exports one.`);
  return domain;
};
