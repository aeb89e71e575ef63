import type { Curve, Curves, Simulation } from './simulated.ts'

const daySeconds = 86_400
const hour = 3600

/** Load by the time of the day: little at night, most at noon. */
const load: Curve = (seconds) => 0.1 + 0.9 * Math.max(0, Math.sin((Math.PI * (seconds - 6 * hour)) / (14 * hour)))
const loadAt = (seconds: number): number => load(seconds) ?? 0

/** Sums of the load over time, so that counters are computed once. */
const sums = ((): readonly number[] => {
  const list = [0]
  for (let minute = 0; minute <= daySeconds / 15; minute++) list.push((list[minute] ?? 0) + 15 * loadAt(15 * minute))
  return list
})()

/** Counter that grows by `perSecond` at full load, plus jumps of `burst` every `everySeconds`. */
const traffic =
  (perSecond: number, burst = 0, everySeconds = hour): Curve =>
  (seconds) =>
    perSecond * (sums[Math.floor(seconds / 15)] ?? 0) + burst * Math.floor(seconds / everySeconds)

/** Noise between 0 and 1 that is the same in every run. */
const noise = (seconds: number, seed: number): number => {
  const value = Math.sin(seconds * 12.9898 + seed * 78.233) * 43_758.5453
  return value - Math.floor(value)
}

const wobbles =
  (least: number, most: number, seed = 1): Curve =>
  (seconds) =>
    least + (most - least) * loadAt(seconds) * noise(seconds, seed)

/** An upgrade at 14:00 replaces one process after another: each is not ready, then away, for 30 seconds. */
const upgrade = 14 * hour
const isAway = (seconds: number, turn: number): boolean => {
  const since = seconds - upgrade - 120 * turn
  return since >= 0 && since < 30
}

/** Bulk messages that wait: a campaign of 100,000 at 9:00, sent at 50 a second. */
const campaign: Curve = (seconds) => {
  const waiting = 100_000 - 50 * (seconds - 9 * hour)
  return seconds < 9 * hour || waiting <= 0 ? undefined : waiting
}

const histogram = (
  name: string,
  labels: string,
  bounds: readonly (readonly [bound: number, share: number])[],
  perSecond: number,
): Curves =>
  Object.fromEntries(
    [...bounds, ['+Inf', 1] as const].map(([bound, share]) => [
      `${name}_bucket{${labels}le="${bound}"}`,
      traffic(perSecond * share),
    ]),
  )

const processes = ['rest', 'portal', 'dispatcher', 'dispatcher-2'].map((instance, turn) => ({
  instance,
  turn,
  process: instance.replace(/-2$/, ''),
}))

const ofProcess = ({ instance, turn, process }: (typeof processes)[number]): Curves => {
  const there =
    (curve: Curve): Curve =>
    (seconds) =>
      isAway(seconds, turn) ? undefined : curve(seconds)
  return {
    [`up{job="gateway",instance="${instance}"}`]: (seconds) => Number(!isAway(seconds, turn)),
    [`gateway_ready{process="${process}",reason="none",instance="${instance}"}`]: there(() => 1),
    [`process_start_time_seconds{job="gateway",instance="${instance}"}`]: there((seconds) =>
      Number(seconds > upgrade + 120 * turn),
    ),
    [`process_resident_memory_bytes{job="gateway",instance="${instance}"}`]: there(wobbles(150e6, 300e6, turn)),
    [`nodejs_eventloop_lag_p99_seconds{job="gateway",instance="${instance}"}`]: there(wobbles(0.01, 0.2, turn)),
    [`gateway_clock_offset_seconds{instance="${instance}"}`]: there(wobbles(-0.2, 0.4, turn)),
    [`gateway_database_waiting{pool="hot",instance="${instance}"}`]: there((seconds) =>
      Math.floor(1.05 * noise(seconds, turn)),
    ),
    [`gateway_disk_bytes{instance="${instance}"}`]: there(() => 100e9),
    [`gateway_disk_free_bytes{instance="${instance}"}`]: there((seconds) => 40e9 - 20_000 * seconds),
    [`gateway_database_server_connections{state="used",instance="${instance}"}`]: there(wobbles(40, 70, turn)),
    [`gateway_database_server_connections{state="max",instance="${instance}"}`]: there(() => 97),
    [`gateway_standby_lag_bytes{standby="b",instance="${instance}"}`]: there(wobbles(0, 20e6, turn)),
    [`gateway_backup_age_seconds{kind="file",instance="${instance}"}`]: there(
      (seconds) => (seconds + 12 * hour) % daySeconds,
    ),
    [`gateway_certificate_remaining_seconds{certificate="database sslrootcert",instance="${instance}"}`]: there(
      (seconds) => 60 * daySeconds - seconds,
    ),
    [`gateway_requests_waiting{instance="${instance}"}`]: there((seconds) =>
      Math.floor(60 * noise(seconds, turn) ** 8),
    ),
  }
}

const ofInterface = (service: string): Curves => {
  const count = (status: string) =>
    `http_request_duration_seconds_count{service="${service}",status="${status}",instance="${service}"}`
  return {
    [count('200')]: traffic(20),
    [count('400')]: traffic(0.5),
    [count('429')]: traffic(0.2),
    [count('503')]: traffic(0.02, 3),
  }
}

const ofDispatcher = (instance: string): Curves => {
  const labels = `carrier="alpha",instance="${instance}"`
  const answers = (outcome: string) => `gateway_carrier_answers_total{outcome="${outcome}",${labels}}`
  const receipts = (result: string) => `gateway_carrier_receipts_total{result="${result}",${labels}}`
  return {
    [`gateway_dispatcher_stalled{work="single",${labels}}`]: () => 0,
    [`gateway_carrier_binds{${labels}}`]: (seconds) => (seconds % (6 * hour) < 20 ? 0 : 2),
    [`gateway_carrier_paused{${labels}}`]: (seconds) => Number(seconds >= 3 * hour && seconds < 3.5 * hour),
    [`gateway_carrier_circuit_open{${labels}}`]: (seconds) => Number(seconds % (8 * hour) < 30),
    [`gateway_carrier_throttled{${labels}}`]: (seconds) => Number(seconds % hour < 300),
    [`gateway_carrier_overflow_total{${labels}}`]: traffic(0, 50, 2 * hour),
    [answers('accepted')]: traffic(30),
    [answers('refused')]: traffic(0.9),
    [answers('refused-for-now')]: traffic(1, 20),
    [answers('unknown')]: traffic(0.001, 1, 6 * hour),
    [receipts('received')]: traffic(30),
    [receipts('missed')]: traffic(0.1),
    [`gateway_unknown_outcomes_total{cause="answer",instance="${instance}"}`]: traffic(0.001, 4, 6 * hour),
    [`gateway_unknown_outcomes_total{cause="recovery",instance="${instance}"}`]: traffic(0),
    [`gateway_webhook_unopened_secrets_total{instance="${instance}"}`]: () => 0,
    [`gateway_webhook_dead_lists{state="disabled",instance="${instance}"}`]: () => 14,
    [`gateway_webhook_dead_lists{state="active",instance="${instance}"}`]: () => 0,
    [`gateway_webhook_oldest_seconds{state="active",instance="${instance}"}`]: wobbles(0, 4),
    [`gateway_webhook_oldest_seconds{state="failing",instance="${instance}"}`]: (seconds) => seconds,
    [`gateway_in_doubt_messages{instance="${instance}"}`]: () => 0,
    [`gateway_route_oldest_due_seconds{route="all",lane="single",instance="${instance}"}`]: wobbles(0, 5),
    [`gateway_route_oldest_due_seconds{route="all",lane="bulk",instance="${instance}"}`]: (seconds) =>
      campaign(seconds) === undefined ? undefined : seconds - 9 * hour,
    [`gateway_queue_due_messages{route="all",lane="bulk",instance="${instance}"}`]: campaign,
    ...histogram(
      'gateway_carrier_response_seconds',
      `${labels},`,
      [
        [0.1, 0.9],
        [1, 0.97],
        [5, 0.99],
      ],
      30,
    ),
    ...histogram(
      'gateway_carrier_receipt_seconds',
      `${labels},`,
      [
        [10, 0.7],
        [300, 0.9],
      ],
      10,
    ),
  }
}

const merged = (all: readonly Curves[]): Curves => Object.fromEntries(all.flatMap((curves) => Object.entries(curves)))

/**
 * Returns a day, or its first seconds, without an incident but with its usual trouble: a campaign, an upgrade, a
 * paused carrier, short losses of connections, throttling at the full hour, receivers that fail, some refused requests
 * and wrong passwords.
 */
export const quietDay = (seconds = daySeconds): Simulation => ({
  name: 'quiet day',
  isQuiet: true,
  expected: [{ seconds, alarms: [] }],
  curves: {
    ...merged(processes.map(ofProcess)),
    ...merged(['rest', 'portal'].map(ofInterface)),
    ...ofDispatcher('dispatcher'),
    ...ofDispatcher('dispatcher-2'),
    'gateway_logins_total{outcome="right",instance="portal"}': traffic(0.2),
    'gateway_logins_total{outcome="wrong",instance="portal"}': traffic(0.05, 8),
    'gateway_callbacks_total{carrier="beta",result="stored",instance="callbacks"}': traffic(5),
    'gateway_callbacks_total{carrier="beta",result="refused",instance="callbacks"}': () => 0,
    'gateway_smpp_responses_total{command="submit_sm",status="ESME_ROK",instance="smpp"}': traffic(20),
    'gateway_smpp_responses_total{command="submit_sm",status="RSYSERR",instance="smpp"}': traffic(0.001, 2),
    'gateway_smpp_oldest_delivery_seconds{instance="smpp"}': wobbles(0, 20_000),
    'gateway_smpp_stray_texts_total{instance="smpp"}': traffic(0, 2),
    ...histogram(
      'gateway_smpp_response_seconds',
      'instance="smpp",',
      [
        [0.05, 0.97],
        [0.25, 0.995],
      ],
      20,
    ),
    ...histogram(
      'gateway_database_statement_seconds',
      'statement="accept",instance="rest",',
      [
        [0.01, 0.9],
        [0.5, 0.98],
      ],
      40,
    ),
  },
})
