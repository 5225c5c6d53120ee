// Own server: each set of parts is an installation of its own.
import { test } from 'vitest';
import type { PartName } from '#kernel/registry/parts.ts';
import { expectOnly, needs, PART_NAMES, withNeeded } from '../engines/served-parts.ts';

test.each<readonly [string, readonly PartName[]]>([
  ...PART_NAMES.map((name) => [`the core with ${withNeeded(name).join(' and ')}`, withNeeded(name)] as const),
  ...PART_NAMES.map(
    (name) => [`everything but ${name}`, PART_NAMES.filter((each) => !needs(each, name))] as const,
  ),
])('%s serves nothing of the other parts, and loads none of their modules', (_, parts) => expectOnly(parts));
