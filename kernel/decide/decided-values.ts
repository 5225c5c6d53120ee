import { spaced } from '../base/names.ts';
import { parsePlainly } from '../base/plain-issues.ts';
import { Rejection } from '../base/rejection.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Row } from '../registry/registry.ts';

type Defs = Readonly<Record<string, FieldDef | undefined>>;

/**
 * The limits of a field are a rule that no decision can break: the sum of two amounts may be too large, and no
 * form was wrong. A value of another type, which does not compile, is refused alike.
 */
export const demandDecided = (one: string, defs: Defs, values: Row): void => {
  for (const [name, value] of Object.entries(values)) {
    const def = defs[name];
    if (def === undefined || value === undefined || (def.optional && value === null)) continue;
    const { error } = parsePlainly(def.recorded, value);
    if (error === undefined) continue;
    const [fault = 'Is not valid.'] = error.issues.map(({ message }) => message);
    const detail = `The command would give the ${spaced(one)} a wrong ${spaced(name)}. ${fault}`;
    throw new Rejection('invalid_command', { errors: [{ pointer: '', detail }] });
  }
};
