/** Every address below `/console`, by its page. Webhooks are also below `/account`, for their owners. */
const PATHS = {
  overview: '/console',
  events: '/console/events',
  event: '/console/events/:id',
  data: '/console/data',
  dataList: '/console/data/:kind',
  dataNew: '/console/data/:kind/new',
  dataItem: '/console/data/:kind/:id',
  dataCommand: '/console/data/:kind/:id/do/:command',
  dataUnder: '/console/data/:kind/:id/under/:child',
  dataNewUnder: '/console/data/:kind/:id/new/:child',
  dataAdd: '/console/data/:kind/:id/list/:list/add',
  dataAddBy: '/console/data/:kind/:id/list/:list/add/:command',
  dataListed: '/console/data/:kind/:id/list/:list/:item',
  dataListedBy: '/console/data/:kind/:id/list/:list/:item/do/:command',
  dataView: '/console/views/:view',
  item: '/console/items/:kind/:id',
  webhooks: '/console/webhooks',
  newWebhook: '/console/webhooks/new',
  deliveries: '/console/webhooks/deliveries',
  webhook: '/console/webhooks/:id',
  editWebhook: '/console/webhooks/:id/edit',
  delivery: '/console/webhooks/:id/deliveries/:delivery',
  parked: '/console/parked',
  proof: '/console/proof',
  operatorCommands: '/console/orders',
  operatorCommand: '/console/orders/:id',
  users: '/console/users',
  user: '/console/users/:id',
  clients: '/console/clients',
  newClient: '/console/clients/new',
  client: '/console/clients/:id',
  newAggregate: '/console/declaration/new',
  addField: '/console/declaration/field',
} as const;

export type View = keyof typeof PATHS;
export const VIEWS = Object.keys(PATHS) as readonly View[];
export type Route = {
  readonly view: View | 'unknown';
  readonly parameters: Readonly<Record<string, string>>;
  readonly search: URLSearchParams;
};

const OF_ADMINISTRATORS = '/console/webhooks';
const OF_OWNERS = '/account/webhooks';
/** The base address of webhooks: of the user’s own, or of all for administrators. */
export const webhooksAt = (pathname: string): string =>
  isOfOwners(pathname) ? OF_OWNERS : OF_ADMINISTRATORS;
export const isOfOwners = (pathname: string): boolean =>
  pathname === OF_OWNERS || pathname.startsWith(`${OF_OWNERS}/`);
/** The address of the same page for the other audience. */
export const moved = (pathname: string): string =>
  isOfOwners(pathname)
    ? pathname.replace(OF_OWNERS, OF_ADMINISTRATORS)
    : pathname.replace(OF_ADMINISTRATORS, OF_OWNERS);

export const routeOf = (given: string, search: string): Route => {
  const pathname = isOfOwners(given) ? moved(given) : given;
  for (const [view, pattern] of Object.entries(PATHS)) {
    const parameters = match(pattern, pathname);
    if (parameters !== undefined)
      return { view: view as View, parameters, search: new URLSearchParams(search) };
  }
  return { view: 'unknown', parameters: {}, search: new URLSearchParams(search) };
};

const match = (pattern: string, pathname: string): Record<string, string> | undefined => {
  const wanted = pattern.split('/');
  const given = pathname.replace(/\/$/, '').split('/');
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? '';
    if (part.startsWith(':')) parameters[part.slice(1)] = decodePart(text);
    else if (part !== text) return undefined;
  }
  return parameters;
};

const decodePart = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
