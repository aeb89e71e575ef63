import type { Curve, Curves, Simulation } from './simulated.ts'

/** Period in which every figure is good, before each incident and after it. */
const goodSeconds = 180
/** Longest time from the begin of an incident to its alarm, and from its end to the end of the alarm (P-22). */
const [alarmSeconds, clearSeconds] = [120, 300]

/** Curve by the seconds since the incident began, negative before, and by whether it lasts. */
type Change = (duration: number) => Curve

const began = goodSeconds
const isOn = (seconds: number, duration: number): boolean => seconds >= began && seconds < began + duration

/** A gauge that has one value in good times and another during the incident. */
export const gauge =
  (good: number | undefined, bad: number | undefined): Change =>
  (duration) =>
  (seconds) =>
    isOn(seconds, duration) ? bad : good

/** A counter that grows by so much a second in good times, and by another rate during the incident. */
export const counter =
  (good: number, bad: number): Change =>
  (duration) =>
  (seconds) => {
    const bads = Math.min(Math.max(seconds - began, 0), duration)
    return good * (seconds - bads) + bad * bads
  }

/** A gauge that grows by one a second during the incident, as an age does. */
const age: Change = (duration) => (seconds) => (isOn(seconds, duration) ? seconds - began : 0)

/** A histogram of ten values a second: up to `fast` in good times, and between `fast` and `slow` in the incident. */
const histogram = (name: string, labels: string, [fast, slow]: readonly [number, number]): Changes => ({
  [`${name}_bucket{${labels}le="${fast}"}`]: counter(10, 0),
  [`${name}_bucket{${labels}le="${slow}"}`]: counter(10, 10),
  [`${name}_bucket{${labels}le="+Inf"}`]: counter(10, 10),
})

type Changes = Readonly<Record<string, Change>>

const still =
  (value: number): Curve =>
  () =>
    value

/** Figures of a healthy gateway: one process rest, one dispatcher, one carrier, one route. */
const healthy: Curves = {
  'up{job="gateway",instance="rest"}': still(1),
  'up{job="gateway",instance="dispatcher"}': still(1),
  'gateway_ready{process="rest",reason="none",instance="rest"}': still(1),
  'gateway_ready{process="dispatcher",reason="none",instance="dispatcher"}': still(1),
  'process_start_time_seconds{job="gateway",instance="rest"}': still(1000),
  'gateway_dispatcher_stalled{carrier="alpha",work="single",instance="dispatcher"}': still(0),
  'gateway_database_server_connections{state="used",instance="rest"}': still(40),
  'gateway_database_server_connections{state="max",instance="rest"}': still(97),
  'gateway_backup_age_seconds{kind="file",instance="rest"}': still(3600),
  'gateway_carrier_binds{carrier="alpha",instance="dispatcher"}': still(2),
  'gateway_carrier_paused{carrier="alpha",instance="dispatcher"}': still(0),
  'http_request_duration_seconds_count{service="rest",status="200",instance="rest"}': (seconds) => 10 * seconds,
  'gateway_carrier_answers_total{carrier="alpha",outcome="accepted",instance="dispatcher"}': (seconds) => 5 * seconds,
  'gateway_carrier_receipts_total{carrier="alpha",result="received",instance="dispatcher"}': (seconds) => 5 * seconds,
}

interface SimulatedIncident extends Simulation {
  /** Seconds between two evaluations of the rules. In production they are 15, so that alarms are faster. */
  readonly evaluationSeconds: number
}

interface Row {
  readonly changes: Changes
  /** Minutes for which the state must last before it counts as an incident; 0 by default. */
  readonly minutes?: number
}

const alpha = 'carrier="alpha",instance="dispatcher"'
const answers = (outcome: string): string => `gateway_carrier_answers_total{outcome="${outcome}",${alpha}}`
const receipts = (result: string): string => `gateway_carrier_receipts_total{result="${result}",${alpha}}`
const gone = gauge(1, undefined)

/** The incident of each alarm. */
const rows: Readonly<Record<string, Row>> = {
  GatewayGone: {
    changes: {
      'up{job="gateway",instance="rest"}': gone,
      'up{job="gateway",instance="dispatcher"}': gone,
      'gateway_ready{process="rest",reason="none",instance="rest"}': gone,
      'gateway_dispatcher_stalled{carrier="alpha",work="single",instance="dispatcher"}': gauge(0, undefined),
    },
  },
  ProcessDown: { changes: { 'up{job="gateway",instance="xml"}': gauge(1, 0) } },
  ProcessGone: { changes: { 'gateway_ready{process="xml",reason="none",instance="xml"}': gone } },
  NotReady: {
    changes: {
      'gateway_ready{process="rest",reason="none",instance="rest"}': gone,
      'gateway_ready{process="rest",reason="disk-full",instance="rest"}': gauge(undefined, 0),
    },
  },
  CrashLoop: {
    changes: {
      'process_start_time_seconds{job="gateway",instance="rest"}': (duration) => (seconds) =>
        isOn(seconds, duration) ? seconds - (seconds % 30) : seconds < began ? 1 : began + duration,
    },
  },
  EventLoopBusy: { changes: { 'nodejs_eventloop_lag_p99_seconds{job="gateway",instance="rest"}': gauge(0.01, 0.8) } },
  MemoryHigh: { changes: { 'process_resident_memory_bytes{job="gateway",instance="rest"}': gauge(200e6, 900e6) } },
  RequestsFail: {
    changes: { 'http_request_duration_seconds_count{service="rest",status="500",instance="rest"}': counter(0, 0.5) },
  },
  RequestsRefused: {
    changes: { 'http_request_duration_seconds_count{service="rest",status="503",instance="rest"}': counter(0, 2) },
  },
  RequestsWait: { changes: { 'gateway_requests_waiting{instance="rest"}': gauge(2, 400) } },
  LogInsGuessed: { changes: { 'gateway_logins_total{outcome="wrong",instance="rest"}': counter(0.05, 5) } },
  NoDispatcher: {
    changes: {
      'gateway_dispatcher_stalled{carrier="alpha",work="single",instance="dispatcher"}': gauge(0, undefined),
    },
  },
  DispatcherStalled: {
    changes: { 'gateway_dispatcher_stalled{carrier="alpha",work="single",instance="dispatcher"}': gauge(0, 1) },
  },
  RouteWaits: { changes: { 'gateway_route_oldest_due_seconds{route="all",lane="single",instance="dispatcher"}': age } },
  RouteStands: {
    changes: {
      'gateway_route_oldest_due_seconds{route="all",lane="bulk",instance="dispatcher"}': age,
      'gateway_queue_due_messages{route="all",lane="bulk",instance="dispatcher"}': gauge(undefined, 5000),
    },
  },
  MessagesInDoubt: { changes: { 'gateway_in_doubt_messages{instance="dispatcher"}': gauge(0, 12) } },
  UnknownOutcomes: {
    changes: { 'gateway_unknown_outcomes_total{cause="answer",instance="dispatcher"}': counter(0, 1) },
  },
  DatabaseSlow: {
    changes: histogram('gateway_database_statement_seconds', 'statement="accept",instance="rest",', [0.1, 5]),
  },
  DatabaseConnectionsShort: { changes: { 'gateway_database_waiting{pool="hot",instance="rest"}': gauge(0, 9) } },
  DatabaseConnectionsFew: {
    changes: { 'gateway_database_server_connections{state="used",instance="rest"}': gauge(40, 95) },
  },
  StandbyGone: { changes: { 'gateway_standby_lag_bytes{standby="b",instance="rest"}': gauge(0, undefined) } },
  StandbyBehind: { changes: { 'gateway_standby_lag_bytes{standby="b",instance="rest"}': gauge(1e6, 200e6) } },
  DiskFull: {
    changes: {
      'gateway_disk_bytes{instance="rest"}': gauge(100e9, 100e9),
      'gateway_disk_free_bytes{instance="rest"}': gauge(40e9, 1e9),
    },
  },
  DiskFills: {
    changes: {
      'gateway_disk_bytes{instance="rest"}': gauge(100e9, 100e9),
      'gateway_disk_free_bytes{instance="rest"}': gauge(40e9, 10e9),
    },
  },
  BackupOld: { changes: { 'gateway_backup_age_seconds{kind="file",instance="rest"}': gauge(3600, 100_000) } },
  BackupUnknown: {
    changes: { 'gateway_backup_age_seconds{kind="file",instance="rest"}': gauge(3600, undefined) },
    minutes: 60,
  },
  ClockWrong: { changes: { 'gateway_clock_offset_seconds{instance="rest"}': gauge(0.1, -40) } },
  CertificateEnds: {
    changes: { 'gateway_certificate_remaining_seconds{certificate="a",instance="rest"}': gauge(5e6, 80_000) },
  },
  CertificateEndsSoon: {
    changes: { 'gateway_certificate_remaining_seconds{certificate="a",instance="rest"}': gauge(5e6, 1e6) },
  },
  WebhooksWait: { changes: { 'gateway_webhook_oldest_seconds{state="active",instance="dispatcher"}': age } },
  WebhooksDead: {
    changes: { 'gateway_webhook_dead_lists{state="disabled",instance="dispatcher"}': counter(0, 0.1) },
  },
  WebhookSecretsLost: { changes: { 'gateway_webhook_unopened_secrets_total{instance="dispatcher"}': counter(0, 0.2) } },
  CarrierNotBound: { changes: { [`gateway_carrier_binds{${alpha}}`]: gauge(2, 0) } },
  CarrierCircuitOpen: { changes: { [`gateway_carrier_circuit_open{${alpha}}`]: gauge(0, 1) } },
  CarrierOverflows: {
    changes: { [`gateway_carrier_overflow_total{${alpha}}`]: counter(0, 1) },
    minutes: 15,
  },
  CarrierThrottled: { changes: { [`gateway_carrier_throttled{${alpha}}`]: gauge(0, 1) }, minutes: 15 },
  CarrierSlow: { changes: histogram('gateway_carrier_response_seconds', `${alpha},`, [1, 10]) },
  CarrierReceiptsLate: {
    changes: histogram('gateway_carrier_receipt_seconds', `${alpha},`, [60, 3600]),
    minutes: 2,
  },
  CarrierReceiptsUnread: { changes: { [receipts('unreadable')]: counter(0, 0.1) } },
  CarrierReceiptsMissed: { changes: { [receipts('missed')]: counter(0, 2) } },
  CarrierRefusesForNow: { changes: { [answers('refused-for-now')]: counter(0.1, 10) } },
  CarrierRefuses: { changes: { [answers('refused')]: counter(0.05, 5) } },
  CallbacksRefused: {
    changes: { 'gateway_callbacks_total{carrier="beta",result="refused",instance="callbacks"}': counter(0, 0.1) },
  },
  CarrierPaused: { changes: { [`gateway_carrier_paused{${alpha}}`]: gauge(0, 1) }, minutes: 720 },
  SmppRefusedForTrouble: {
    changes: {
      'gateway_smpp_responses_total{command="submit_sm",status="RSYSERR",instance="smpp"}': counter(0, 2),
    },
  },
  SmppResponsesSlow: { changes: histogram('gateway_smpp_response_seconds', 'instance="smpp",', [0.25, 1]) },
  SmppDeliveriesWait: { changes: { 'gateway_smpp_oldest_delivery_seconds{instance="smpp"}': gauge(60, 90_000) } },
  SmppTextsOutsideAlphabet: { changes: { 'gateway_smpp_stray_texts_total{instance="smpp"}': counter(0, 1) } },
}

/** A simulation of each alarm: nothing in good times, the alarm in time, and nothing after the incident. */
export const simulatedIncidents: readonly SimulatedIncident[] = Object.entries(rows).map(
  ([alarm, { changes, minutes = 0 }]) => {
    const isLong = minutes >= 60
    const evaluationSeconds = isLong ? 300 : 30
    const duration = 60 * minutes + 300 + evaluationSeconds
    const curves = Object.entries(changes).map(([series, change]) => [series, change(duration)] as const)
    return {
      name: alarm,
      evaluationSeconds,
      curves: { ...healthy, ...Object.fromEntries(curves) },
      expected: [
        { seconds: began - 30, alarms: [] },
        { seconds: began + 60 * minutes + alarmSeconds + (isLong ? 300 : 0), alarms: [alarm] },
        { seconds: began + duration + clearSeconds + (isLong ? 300 : 0), alarms: [] },
      ],
    }
  },
)
