import { useState } from 'preact/hooks';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Heading, Whole } from '../base/parts.ts';
import { Beside } from './beside.ts';
import { DECLARATION, type Declaration } from './declaration.ts';
import { FieldForm, NEW_FIELD, sentField } from './field-form.ts';

/** Adds a field to the file of an aggregate. */
export const AddField = () => html`
  <${Heading} title="Add a field" />
  <${Whole} asked=${useAsked<Declaration>(DECLARATION)} show=${(declaration: Declaration) => html`<${Form} declaration=${declaration} />`} />`;

const Form = ({ declaration }: { readonly declaration: Declaration }) => {
  const [kind, setKind] = useState(declaration.aggregates[0]?.kind ?? '');
  const [field, set] = useState({ ...NEW_FIELD, options: ['optional'] as readonly string[] });
  const change = { kind, field: sentField(field, declaration.types) };
  const choose = (event: Event) => setKind((event.currentTarget as HTMLSelectElement).value);
  return html`<${Beside} change=${change} kind=${kind} field=${field.name} action="Add it">
    <p><label for="kind">Aggregate</label><select id="kind" onChange=${choose}>${declaration.aggregates.map((each) => html`<option value=${each.kind} selected=${each.kind === kind}>${each.kind}</option>`)}</select></p>
    <p class="soft">Recorded events lack the field, so it is optional or has a default.</p>
    <${FieldForm} id="field" typed=${field} set=${set} declaration=${declaration} />
  <//>`;
};
