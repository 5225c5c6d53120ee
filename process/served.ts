import type { Scan } from '#kernel/base/scan.ts';
import type { LoadDemo } from '#kernel/demo/demo.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { OwnRoutes } from './own-routes.ts';
import type { Part } from './part.ts';

/**
 * The domain of an installation. It is loaded in a function, because a declaration may be refused: then only
 * that error is printed. The package shows this type, so that it names none of the process.
 */
export type Served = {
  domain(): Promise<Domain>;
  /** The parts that it opts into beside the core; by default all. */
  readonly parts?: readonly Part[];
  /** Routes beside those of Annals, served with the reads. */
  readonly routes?: OwnRoutes;
  /**
   * Checks each uploaded file before it is accepted, for example with a virus scanner. A sentence refuses the file;
   * so do an error, and more than a minute.
   */
  readonly scan?: Scan;
  readonly demo?: LoadDemo;
};
