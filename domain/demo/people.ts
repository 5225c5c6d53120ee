/**
 * The people of the demo. The mailbox is the part before the @ of an address that cannot exist (RFC 2606).
 */
export type Name = { readonly name: string; readonly mailbox: string };

/** The editors, who are administrators. */
export const EDITORS: readonly Name[] = [
  { name: 'Nadia Okonkwo', mailbox: 'nadia.okonkwo' },
  { name: 'Tomás Arriaga', mailbox: 'tomas.arriaga' },
  { name: 'Ingrid Sæther', mailbox: 'ingrid.saether' },
];

/** The writer who tampers with an article, and its author. */
export const WRITERS_OF_INCIDENT: readonly Name[] = [
  { name: 'Jakub Wiśniewski', mailbox: 'jakub.wisniewski' },
  { name: 'Caoimhe Ní Bhriain', mailbox: 'caoimhe.nibhriain' },
];

/** The other writers. */
export const WRITERS: readonly Name[] = [
  { name: '山田 葵', mailbox: 'aoi.yamada' },
  { name: 'Олена Шевчук', mailbox: 'olena.shevchuk' },
  { name: 'ليلى حداد', mailbox: 'layla.haddad' },
  { name: 'Kwabena Mensah-Boateng', mailbox: 'kwabena.mensah' },
  { name: 'Zoë van der Linde', mailbox: 'zoe.vanderlinde' },
  { name: 'Mateus Figueiredo', mailbox: 'mateus.figueiredo' },
  { name: 'Ananya Krishnamurthy', mailbox: 'ananya.k' },
  { name: 'Nguyễn Thị Lan', mailbox: 'lan.nguyen' },
];

/** The readers, who also comment. */
export const READERS: readonly Name[] = [
  { name: 'Ruth Abernathy', mailbox: 'ruth.abernathy' },
  { name: 'Κωνσταντίνος Παπαδάκης', mailbox: 'kostas.papadakis' },
  { name: '김서연', mailbox: 'seoyeon.kim' },
  { name: 'Bheki Dlamini', mailbox: 'bheki.dlamini' },
  { name: 'מיכל ברק', mailbox: 'michal.barak' },
  { name: 'Aroha Tūhoe', mailbox: 'aroha.tuhoe' },
  { name: 'Søren Kjærgaard', mailbox: 'soeren.kjaergaard' },
  { name: 'अर्जुन मेहता', mailbox: 'arjun.mehta' },
  { name: 'Chiamaka Eze', mailbox: 'chiamaka.eze' },
  { name: 'Émile Desrosiers', mailbox: 'emile.desrosiers' },
  { name: 'Gülşen Yıldız', mailbox: 'gulsen.yildiz' },
  { name: '王小梅', mailbox: 'xiaomei.wang' },
  { name: 'Priscila Amaral', mailbox: 'priscila.amaral' },
  { name: 'Leopold Graf', mailbox: 'leopold.graf' },
];
