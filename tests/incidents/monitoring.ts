import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { parse, stringify } from 'yaml'
import { rulesFile } from '../support/alarms.ts'
import { freePorts } from '../support/free-ports.ts'
import { root } from '../support/process.ts'

/** Factor by which Prometheus, Alertmanager and the times of the rules are faster than in production. */
export const timesFaster = 7.5

const programs = ['prometheus', 'prometheus-alertmanager'] as const

/** Programs that are missing here. Both are packages of Debian. */
export const missingPrograms: readonly string[] = programs.filter(
  (program) => spawnSync(program, ['--version']).error !== undefined,
)

/** Process that is scraped. */
export interface Target {
  readonly instance: string
  readonly port: number
}

/** Running Prometheus and Alertmanager with the shipped files. */
export interface Monitoring {
  /** Scrapes these processes from now on, as after a change of service discovery. */
  scrape(targets: readonly Target[]): Promise<void>
  /** Returns the names of the alarms that Alertmanager notifies of now. */
  active(): readonly string[]
  /** Returns the names of all alarms that were on since the last call. */
  takeRaised(): readonly string[]
  /** Returns the value of an expression by the value of its label `instance`. */
  query(expr: string): Promise<readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]>
  stop(): Promise<void>
}

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Returns a duration of Prometheus such as `2m`, divided by the factor. */
const shorter = (count: string, unit: string): string =>
  `${Math.round((Number(count) * (seconds[unit] ?? 1) * 1000) / timesFaster)}ms`

/** Returns the rules with shorter times: those of `for`, of ranges, of offsets, and ages of waiting work. */
export const fasterRules = (text: string): string =>
  text
    .replaceAll(/(for: |\[|offset )(\d+)([smhd])/g, (_all, before: string, count: string, unit: string) => {
      return `${before}${shorter(count, unit)}`
    })
    .replaceAll(/(oldest(?:_due)?_seconds\{[^}]*\}\)) > (\d+)/g, (_all, before: string, age: string) => {
      return `${before} > ${Number(age) / timesFaster}`
    })

interface AlertmanagerFile {
  readonly route: object
  readonly receivers: readonly { readonly name: string }[]
}

/** Returns the shipped configuration of Alertmanager with shorter times, which notifies `url`. */
function fasterAlertmanager(url: string): string {
  const text = readFileSync(join(root, 'deploy/prometheus/alertmanager.yaml'), 'utf8')
  const faster = text.replaceAll(
    /(_wait|_interval): (\d+)([smhd])/g,
    (_all, name: string, count: string, unit: string) => {
      return `${name}: ${shorter(count, unit)}`
    },
  )
  const file = parse(faster) as AlertmanagerFile
  const receivers = file.receivers.map((receiver) => ({ ...receiver, webhook_configs: [{ url }] }))
  return stringify({ ...file, receivers })
}

interface Notification {
  readonly alerts: readonly {
    readonly status: 'firing' | 'resolved'
    readonly fingerprint: string
    readonly labels: { readonly alertname: string }
  }[]
}

/** Starts both programs in this folder. `change` may change the rules, to plant a gap. */
export async function startMonitoring(
  folder: string,
  targets: readonly Target[],
  change = (rules: string) => rules,
): Promise<Monitoring> {
  const on = new Map<string, string>()
  let raised = new Set<string>()
  const receiver = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      for (const { status, fingerprint, labels } of (JSON.parse(body) as Notification).alerts) {
        if (status === 'resolved') on.delete(fingerprint)
        else {
          on.set(fingerprint, labels.alertname)
          raised.add(labels.alertname)
        }
      }
      response.end()
    })
  })
  const [prometheusPort = 0, alertmanagerPort = 0, receiverPort = 0] = await freePorts(3)
  await new Promise<void>((resolve) => receiver.listen(receiverPort, '127.0.0.1', resolve))
  await mkdir(folder, { recursive: true })
  const targetsFile = join(folder, 'targets.json')
  const scrape = async (all: readonly Target[]): Promise<void> => {
    const groups = all.map(({ instance, port }) => ({ targets: [`127.0.0.1:${port}`], labels: { instance } }))
    // A rename replaces the file at once, so that Prometheus never reads a part of it.
    await writeFile(`${targetsFile}.new`, JSON.stringify(groups))
    await rename(`${targetsFile}.new`, targetsFile)
  }
  await scrape(targets)
  const interval = shorter('15', 's')
  await writeFile(join(folder, 'rules.yaml'), fasterRules(change(readFileSync(rulesFile, 'utf8'))))
  await writeFile(
    join(folder, 'prometheus.yaml'),
    stringify({
      global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
      rule_files: ['rules.yaml'],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanagerPort}`] }] }] },
      scrape_configs: [{ job_name: 'gateway', file_sd_configs: [{ files: [targetsFile], refresh_interval: '1s' }] }],
    }),
  )
  await writeFile(join(folder, 'alertmanager.yaml'), fasterAlertmanager(`http://127.0.0.1:${receiverPort}/`))
  const children = [
    run('prometheus-alertmanager', [
      `--config.file=${join(folder, 'alertmanager.yaml')}`,
      `--storage.path=${join(folder, 'alertmanager')}`,
      `--web.listen-address=127.0.0.1:${alertmanagerPort}`,
      '--cluster.listen-address=',
    ]),
    run('prometheus', [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
    ]),
  ]
  const base = `http://127.0.0.1:${prometheusPort}`
  for (const [port, child] of [alertmanagerPort, prometheusPort].map((port, at) => [port, children[at]] as const)) {
    await until(() => {
      if (child?.process.exitCode !== null) throw new Error(`it has ended:\n${child?.output() ?? ''}`)
      return isReady(`http://127.0.0.1:${port}/-/ready`)
    })
  }
  return {
    scrape,
    active: () => [...new Set(on.values())].sort(),
    takeRaised: () => {
      const names = [...new Set([...raised, ...on.values()])].sort()
      raised = new Set()
      return names
    },
    query: async (expr) => {
      const response = await fetch(`${base}/api/v1/query?query=${encodeURIComponent(expr)}`)
      const { data } = (await response.json()) as {
        data: { result: { metric: Record<string, string>; value: [number, string] }[] }
      }
      return data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }))
    },
    stop: async () => {
      for (const { process: child } of children) child.kill('SIGKILL')
      await Promise.all(children.map(({ ended }) => ended))
      await new Promise((resolve) => receiver.close(resolve))
    },
  }
}

const isReady = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ status }) => status === 200,
    () => false,
  )

function run(program: string, args: readonly string[]) {
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-10_000)))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return { process: child, ended, output: () => output }
}
