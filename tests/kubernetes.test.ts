import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Deployment } from 'kubernetes-models/apps/v1'
import type { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import type { ConfigMap, Service } from 'kubernetes-models/v1'
import { parseAllDocuments } from 'yaml'
import { publishedVariables } from '../packages/composition/src/index.ts'
import { kustomize } from './support/kustomize.ts'
import { root } from './support/process.ts'

interface Thing {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
}

const processes = ['asp', 'callbacks', 'dispatcher', 'portal', 'rest', 'smpp', 'xml']

/** Copies the manifests and adds secrets, with a folder for each overlay. */
function withSecrets<Result>(overlay: string, use: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-kubernetes-'))
  try {
    cpSync(join(root, 'deploy/kubernetes'), folder, { recursive: true })
    const at = join(folder, 'overlays', overlay)
    writeFileSync(join(at, 'secrets.env'), 'SECRETS_KEY=key\n')
    writeFileSync(join(at, 'database.env'), 'password=word\nuri=postgres://gateway:word@postgres:5432/gateway\n')
    return use(at)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const built = (overlay: string) => withSecrets(overlay, kustomize) as unknown as readonly Thing[]

const overlays = ['trial', 'production']

// kubectl applies the manifests in production, and `kubectl kustomize` combines them here for a comparison.
const hasKubectl = spawnSync('kubectl', ['version', '--client']).error === undefined
if (!hasKubectl)
  process.emitWarning('kubectl is not installed: what the tests read was not compared with what it makes')

;(hasKubectl ? test : test.skip).each(overlays)('the overlay %s is read as kubectl puts it together', (overlay) => {
  const { status, stdout, stderr } = withSecrets(overlay, (at) =>
    spawnSync('kubectl', ['kustomize', at], { encoding: 'utf8' }),
  )
  expect([status, stderr]).toEqual([0, ''])
  // The comparison ignores the digests in the names of secrets, and the order of objects and members.
  const made = stdout.replaceAll(/\b(gateway-(?:secrets|database))-[a-z0-9]{10}\b/g, '$1-made')
  const things = parseAllDocuments(made).map((document) => document.toJS() as Thing)
  expect(sorted(built(overlay))).toEqual(sorted(things))
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const members = value.map(sorted).map((one) => JSON.stringify(one))
    return members.sort().map((one) => JSON.parse(one) as unknown)
  }
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([field, one]) => [field, sorted(one)]))
}

interface Kinds {
  readonly Cluster: object
  readonly ConfigMap: ConfigMap
  readonly Deployment: Deployment
  readonly PodDisruptionBudget: PodDisruptionBudget
  readonly Service: Service
}

const ofKind = <Kind extends keyof Kinds>(things: readonly Thing[], kind: Kind) =>
  things.filter((thing) => thing.kind === kind) as unknown as readonly Kinds[Kind][]

describe.each(overlays)('the overlay %s', (overlay) => {
  let things: readonly Thing[]
  let deployments: readonly Deployment[]
  beforeAll(() => {
    things = built(overlay)
    deployments = ofKind(things, 'Deployment')
  })

  test('has objects that the schemas of Kubernetes accept', async () => {
    const own = things.filter(({ apiVersion }) => !apiVersion.startsWith('postgresql.cnpg.io/'))
    expect(own.length).toBeGreaterThan(15)
    for (const thing of own) {
      const path = `kubernetes-models/${thing.apiVersion}/${thing.kind}`
      const models = (await import(path)) as Record<string, new (thing: Thing) => { validate: () => void }>
      const Model = models[thing.kind]
      if (Model === undefined) throw new Error(`${path} has no model`)
      expect(() => new Model(thing).validate()).not.toThrow()
    }
  })

  test('runs every process as nobody on a read-only root, with probes on a separate port, and kills none early', () => {
    expect(deployments.map(({ metadata }) => metadata?.name).sort()).toEqual(processes)
    const [configuration] = ofKind(things, 'ConfigMap')
    const drainSeconds = Number(configuration?.data?.['DRAIN_SECONDS'])
    for (const { metadata, spec } of deployments) {
      const pod = spec?.template.spec
      const container = pod?.containers[0]
      expect(container).toMatchObject({
        args: [metadata?.name],
        startupProbe: { httpGet: { path: '/health/live', port: 'admin' } },
        livenessProbe: { httpGet: { path: '/health/live', port: 'admin' } },
        readinessProbe: { httpGet: { path: '/health/ready', port: 'admin' } },
        securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
      })
      expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 })
      const admin = container?.ports?.find(({ name }) => name === 'admin')?.containerPort
      expect(container?.env).toContainEqual({ name: 'ADMIN_PORT', value: String(admin) })
      expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds + 25)
    }
  })

  test('takes at most one of each away at a time, and shows neither health nor metrics to clients', () => {
    const budgets = ofKind(things, 'PodDisruptionBudget')
    for (const { metadata, spec } of deployments) {
      const budget = budgets.find((one) => one.metadata?.name === metadata?.name)
      expect(spec?.template.metadata?.labels).toMatchObject(budget?.spec?.selector?.matchLabels ?? { no: 'budget' })
      expect(spec?.replicas).toBe(overlay === 'trial' ? 1 : 2)
    }
    const services = ofKind(things, 'Service')
    expect(services.flatMap(({ spec }) => spec?.ports?.map(({ targetPort }) => targetPort) ?? [])).not.toContain(
      'admin',
    )
    for (const { metadata, spec } of services.filter((one) => processes.includes(one.metadata?.name ?? ''))) {
      const deployment = deployments.find((one) => one.metadata?.name === metadata?.name)
      expect(deployment?.spec?.template.metadata?.labels).toMatchObject(spec?.selector ?? { no: 'selector' })
    }
  })

  test('keeps every secret in a Secret, and sets no unused variable', () => {
    const known = new Set([...publishedVariables, 'PGTARGETSESSIONATTRS'])
    const [configuration] = ofKind(things, 'ConfigMap')
    const inside = deployments.flatMap(({ spec }) => spec?.template.spec?.containers[0]?.env ?? [])
    const names = [...Object.keys(configuration?.data ?? {}), ...inside.map(({ name }) => name)]
    expect(names.filter((name) => !known.has(name))).toEqual([])
    const secret = overlay === 'trial' ? /^gateway-database-/ : /^gateway-db-app$/
    for (const { value, valueFrom } of inside.filter(({ name }) => name === 'DATABASE_URL')) {
      expect(value).toBeUndefined()
      expect(valueFrom?.secretKeyRef?.name).toMatch(secret)
    }
    for (const { spec } of deployments)
      expect(spec?.template.spec?.containers[0]?.envFrom?.map((from) => from.secretRef?.name)).toContainEqual(
        expect.stringMatching(/^gateway-secrets-/),
      )
  })
})

describe('the overlay production', () => {
  test('has a PostgreSQL of CloudNativePG whose commits wait for a standby; its secret names the service that follows the primary', () => {
    const things = built('production')
    // The operator of CloudNativePG creates the secret NAME-app, whose `uri` has the service NAME-rw.
    expect(ofKind(things, 'Cluster')).toMatchObject([
      {
        metadata: { name: 'gateway-db' },
        spec: { instances: 3, postgresql: { synchronous: { number: 1, dataDurability: 'required' } } },
      },
    ])
    const [one] = ofKind(things, 'Deployment')
    const env = one?.spec?.template.spec?.containers[0]?.env
    expect(env).toContainEqual({ name: 'PGTARGETSESSIONATTRS', value: 'read-write' })
  })
})
