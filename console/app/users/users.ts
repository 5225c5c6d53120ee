import { usePages } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Badge, Heading, Listing } from '../base/parts.ts';
import { put, type Route } from '../base/router.ts';
import { BriefTime } from '../base/time.ts';
import { Invitations } from './invitations.ts';

/** A user as `GET /users` returns one to administrators. */
export type User = {
  readonly id: number;
  readonly name: string;
  readonly email?: string | null;
  readonly role?: string;
  /** The last day of an auditor. */
  readonly auditorUntil?: string | null;
  readonly createdAt?: string;
};

/** All accounts and invitations. */
export const Users = ({ route: { search } }: { readonly route: Route }) => {
  const q = search.get('q') ?? '';
  const query = new URLSearchParams({ limit: '50', ...(q !== '' && { q }) });
  const pages = usePages<User>(`/users?${query}`);
  const find = (event: Event) => {
    event.preventDefault();
    const text = (event.currentTarget as HTMLInputElement).value.trim();
    put(`/console/users${text === '' ? '' : `?${new URLSearchParams({ q: text })}`}`);
  };
  return html`
    <${Heading} title="Accounts"><a class="button" href="#invitations">Invite</a><//>
    <form class="filters" role="search" aria-label="Find users" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>Name or e-mail address <input type="search" autocomplete="off" spellcheck="false" value=${q} onChange=${find} /></label>
    </form>
    <${Listing}
      pages=${pages}
      caption="Users, the newest first"
      keyOf=${({ id }: User) => String(id)}
      empty=${html`<p>${q === '' ? 'There are no users.' : `No name or e-mail address contains “${q}”.`}</p>`}
      columns=${[
        {
          label: 'Name',
          cell: ({ id, name }: User) => html`<a href=${`/console/users/${id}`}><bdi>${name}</bdi></a>`,
        },
        { label: 'E-mail address', cell: ({ email }: User) => email ?? html`<span class="soft">none</span>` },
        {
          label: 'Role',
          cell: ({ role }: User) => html`<${Badge} tone=${role === 'admin' ? 'warn' : 'plain'}>${role}<//>`,
        },
        {
          label: 'Since',
          cell: ({ createdAt }: User) => createdAt && html`<${BriefTime} at=${createdAt} />`,
        },
      ]}
    />
    <${Invitations} />`;
};
