import { get, post, type Attack } from '../attack.ts'
import { flood } from '../flood.ts'
import { stored, type Stored } from '../stored.ts'

/**
 * Requests long answers in several concurrent loops. Each loop sends its next request when it has received an answer.
 */
const asking = (
  name: string,
  loops: number,
  text: (key: string, prepared: Stored, loop: number) => string,
  by: Attack['by'] = 'rest',
): Attack => ({
  title: `${name}, ${loops} loops`,
  by,
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

const aspList = (path: string, key: string): string => get(`/api/${path}?apikey=${key}`)
const xmlList = ([path, root]: (typeof xmlLists)[number], key: string): string =>
  post(`/api/${path}`, '', `<${root}><ApiKey>${key}</ApiKey></${root}>`)

const statusOf = (loops: number): Attack =>
  asking('status of 1000 ids', loops, (key, { ids }) => json('/sms/outgoing/status', key, ids.slice(0, 1000)))
const attemptsOf = (loops: number): Attack =>
  asking('attempts of a webhook, 1000 a page', loops, (key, { webhook }) =>
    list(`/webhooks/${webhook}/attempts?limit=1000`, key),
  )
const replaysOf = (loops: number): Attack =>
  asking('replays of all events', loops, (key, { webhook }) => json(`/webhooks/${webhook}/replay`, key, yearly))
const xmlListOf = (each: (typeof xmlLists)[number]): Attack => asking(each[0], 60, (key) => xmlList(each, key), 'xml')

export const [statusRequests, replays, listsOfXml] = [statusOf(60), replaysOf(60), xmlListOf(xmlLists[0])]

export const longAnswers: readonly Attack[] = [
  ...[statusOf(20), attemptsOf(20), replaysOf(20), statusRequests, attemptsOf(60), replays],
  ...restLists.map((path) => asking(path.slice(0, 40), 60, (key) => list(path, key))),
  ...aspLists.map((path) => asking(path, 60, (key) => aspList(path, key), 'asp')),
  ...[listsOfXml, xmlListOf(xmlLists[1])],
]
