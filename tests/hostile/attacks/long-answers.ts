import { get, post, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'
import { stored, type Stored } from '../stored.ts'

// In the short form the lists of an interface are asked for together, and of the others one row is enough.
const loopsOf = (each: number): Pick<Attack, 'form'> => (each === 60 ? {} : { form: 'full' })

/** Requests for much, by so many loops: each asks again when it has its answer. */
const asking = (
  what: string,
  loops: number,
  text: (key: string, prepared: Stored, loop: number) => string,
  by: Attack['by'] = 'rest',
): Attack => ({
  title: `${what}, ${loops} loops`,
  by,
  ...loopsOf(loops),
  prepare: (_hostile, full, deployment) => stored(deployment, full),
  run: (target) => {
    const prepared = target.prepared as Stored
    flood(target, {
      connections: loops,
      text: (loop) => text(target.key, prepared, loop),
      answersToText: 1,
    })
  },
})

const base = '/api/rest/v1'
const json = (path: string, key: string, body: unknown): string =>
  post(base + path, `Authorization: ${key}\r\nContent-Type: application/json\r\n`, JSON.stringify(body))
const list = (path: string, key: string): string => get(base + path, `Authorization: ${key}\r\n`)

const yearly = { from: '202501010000', to: '203001010000' }

const restLists = [
  '/sms/incoming?limit=1000',
  '/shortcode/incoming?limit=1000',
  '/sms/incoming/optout',
  '/sms/scheduled?limit=1000',
  '/subaccounts',
  '/webhooks',
]
const aspLists = ['listoptouts.asp', 'httpgetreplies.asp', 'httpgetscmessages.asp']
const xmlLists = [
  ['xmlgetreplies.asp', 'Svc_Replies'],
  ['xmlgetscmessages.asp', 'Svc_SCmessages'],
] as const

const inTurn = <Item>(items: readonly Item[], loop: number): Item => {
  const item = items[loop % items.length]
  if (item === undefined) throw new Error('no items')
  return item
}
const aspList = (path: string, key: string): string => get(`/api/${path}?apikey=${key}`)
const xmlList = ([path, root]: (typeof xmlLists)[number], key: string): string =>
  post(`/api/${path}`, '', `<${root}><ApiKey>${key}</ApiKey></${root}>`)

const inShortForm = (attack: Attack): Attack => ({ ...attack, form: 'short' })
const inFullForm = (attack: Attack): Attack => ({ ...attack, form: 'full' })

export const longAnswers: readonly Attack[] = [
  ...[20, 60].flatMap((loops) => [
    asking('status of 1000 ids', loops, (key, { ids }) => json('/sms/outgoing/status', key, ids.slice(0, 1000))),
    asking('attempts of a webhook, 1000 a page', loops, (key, { webhook }) =>
      list(`/webhooks/${webhook}/attempts?limit=1000`, key),
    ),
    asking('replays of all events', loops, (key, { webhook }) => json(`/webhooks/${webhook}/replay`, key, yearly)),
  ]),
  inShortForm(asking('lists of REST', 60, (key, _prepared, loop) => list(inTurn(restLists, loop), key))),
  inShortForm(asking('lists of the query string', 60, (key, _, loop) => aspList(inTurn(aspLists, loop), key), 'asp')),
  inShortForm(asking('lists of XML', 60, (key, _prepared, loop) => xmlList(inTurn(xmlLists, loop), key), 'xml')),
  ...restLists.map((path) => inFullForm(asking(path.slice(0, 40), 60, (key) => list(path, key)))),
  ...aspLists.map((path) => inFullForm(asking(path, 60, (key) => aspList(path, key), 'asp'))),
  ...xmlLists.map((each) => inFullForm(asking(each[0], 60, (key) => xmlList(each, key), 'xml'))),
]
