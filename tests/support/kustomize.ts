import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'

/** Object of Kubernetes, or a part of one. */
type Manifest = { readonly [field: string]: unknown }

interface Kustomization extends Manifest {
  readonly resources?: readonly string[]
  readonly namespace?: string
  readonly images?: readonly { readonly name: string; readonly newName: string; readonly newTag: string }[]
  readonly secretGenerator?: readonly { readonly name: string; readonly envs: readonly string[] }[]
  readonly replicas?: readonly { readonly name: string; readonly count: number }[]
  readonly patches?: readonly Patch[]
}

interface Patch {
  readonly target: { readonly kind: string; readonly labelSelector: string }
  readonly path?: string
  readonly patch?: string
}

const understood = 'apiVersion kind resources namespace images secretGenerator replicas patches'.split(' ')

/**
 * Lists that a patch merges member by member, with the field that identifies a member. A patch replaces any other list.
 */
const keyOfMembers: Readonly<Record<string, string>> = {
  ...{ containers: 'name', env: 'name', ports: 'containerPort', volumes: 'name', volumeMounts: 'mountPath' },
}

/**
 * Returns the objects of a folder as `kubectl kustomize` builds them. Supports only what `deploy/kubernetes` uses, and
 * throws for a file with anything else. Names of secrets end in `-made` instead of a digest.
 */
export function kustomize(folder: string): readonly Manifest[] {
  const file = join(folder, 'kustomization.yaml')
  const kustomization = parse(readFileSync(file, 'utf8')) as Kustomization
  const strange = Object.keys(kustomization).filter((field) => !understood.includes(field))
  if (strange.length > 0)
    throw new Error(`${file} has ${strange.join(', ')}, which the reader of the tests does not know`)
  const { namespace, images = [], secretGenerator = [], replicas = [], patches = [] } = kustomization
  const read = (kustomization.resources ?? []).flatMap((path) => resources(join(folder, path)))
  const patched = patches.reduce<readonly Manifest[]>((all, patch) => applied(patch, folder, all), read)
  const secrets = secretGenerator.map(({ name, envs }) => secretOf(name, folder, envs))
  return [...patched, ...secrets]
    .map((one) => (namespace === undefined ? one : inNamespace(one, namespace)))
    .map((one) => replicas.filter(({ name }) => name === nameOf(one)).reduce(counted, one))
    .map((one) =>
      changed(one, (field, value) => {
        const image = field === 'image' ? images.find(({ name }) => name === value) : undefined
        if (image !== undefined) return `${image.newName}:${image.newTag}`
        const isSecret = field === 'name' && secretGenerator.some(({ name }) => name === value)
        return isSecret ? `${String(value)}-made` : value
      }),
    )
}

function resources(path: string): readonly Manifest[] {
  if (statSync(path).isDirectory()) return kustomize(path)
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS() as Manifest)
}

const partOf = (value: Manifest, field: string): Manifest => (value[field] ?? {}) as Manifest
const nameOf = (one: Manifest): unknown => partOf(one, 'metadata')['name']

function applied({ target, path, patch }: Patch, folder: string, all: readonly Manifest[]): readonly Manifest[] {
  const text = patch ?? readFileSync(join(folder, path ?? ''), 'utf8')
  const [label = '', value] = target.labelSelector.split('=')
  const { metadata: _, ...change } = parse(text) as Manifest
  const isMeant = (one: Manifest) =>
    one['kind'] === target.kind && partOf(partOf(one, 'metadata'), 'labels')[label] === value
  return all.map((one) => (isMeant(one) ? (merged(one, change, '') as Manifest) : one))
}

const isPart = (value: unknown): value is Manifest => typeof value === 'object' && value !== null

/** Applies a strategic merge patch. */
function merged(value: unknown, change: unknown, field: string): unknown {
  if (Array.isArray(value) && Array.isArray(change)) {
    const key = keyOfMembers[field]
    if (key === undefined) return change
    const members = [...(value as readonly Manifest[])]
    for (const one of change as readonly Manifest[]) {
      const at = members.findIndex((member) => member[key] === one[key])
      if (at < 0) members.push(one)
      else members[at] = merged(members[at], one, '') as Manifest
    }
    return members
  }
  if (!isPart(value) || !isPart(change)) return change
  const fields = Object.entries(change).map(([name, one]) => [name, merged(value[name], one, name)])
  return { ...value, ...(Object.fromEntries(fields) as Manifest) }
}

function secretOf(name: string, folder: string, envs: readonly string[]): Manifest {
  const lines = envs
    .flatMap((path) => readFileSync(join(folder, path), 'utf8').split('\n'))
    .filter((line) => line !== '')
  const data = lines.map((line) => {
    const at = line.indexOf('=')
    return [line.slice(0, at), Buffer.from(line.slice(at + 1)).toString('base64')]
  })
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    type: 'Opaque',
    data: Object.fromEntries(data) as Manifest,
  }
}

const inNamespace = (one: Manifest, namespace: string): Manifest => ({
  ...one,
  metadata: { ...partOf(one, 'metadata'), ...(one['kind'] === 'Namespace' ? { name: namespace } : { namespace }) },
})

const counted = (one: Manifest, { count }: { readonly count: number }): Manifest =>
  'replicas' in partOf(one, 'spec') ? { ...one, spec: { ...partOf(one, 'spec'), replicas: count } } : one

/** Replaces each value of an object by the result of `change` for its field. */
function changed<Value>(value: Value, change: (field: string, value: unknown) => unknown): Value {
  if (Array.isArray(value)) return value.map((one: unknown) => changed(one, change)) as Value
  if (!isPart(value)) return value
  const fields = Object.entries(value).map(([field, one]) => [field, changed(change(field, one), change)])
  return Object.fromEntries(fields) as Value
}
