import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { runFile } from '../support/shell.ts'

/** What an image brings: its files, and how they are run unless the compose file says otherwise. */
export type Image = {
  folder: string
  user: string
  workingFolder: string
  env: readonly string[]
  entrypoint: readonly string[]
  /** The health check of the image itself. */
  health?: readonly string[]
  /** Stands in for an image of others, which would give its writable volumes to its user. */
  standIn?: true
}

const mount = z.object({
  type: z.enum(['bind', 'volume']),
  source: z.string(),
  target: z.string(),
  read_only: z.boolean().default(false),
})
const condition = z.enum(['service_healthy', 'service_completed_successfully'])

/** A service as `docker-compose config` prints it. */
export const serviceShape = z.object({
  image: z.string(),
  user: z.string().optional(),
  command: z.array(z.string()).nullable(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(mount).default([]),
  tmpfs: z.array(z.string()).default([]),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  depends_on: z.record(z.string(), z.object({ condition })).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  stop_signal: z.string().default('SIGTERM'),
  stop_grace_period: z.string().default('10s'),
  deploy: z.object({ resources: z.object({ limits: z.object({ memory: z.string(), pids: z.int() }) }) }),
})
export type Service = z.output<typeof serviceShape>

export type Container = {
  /** Everything it has printed. */
  output: () => string
  /** Its exit status, once it has ended. */
  ended: Promise<number>
  hasEnded: () => boolean
  /** Runs a command in it, as `docker compose exec` does. */
  exec: (...words: readonly string[]) => Promise<{ status: number; output: string }>
  signal: (name: string) => void
}

type Run = { name: string; service: Service; image: Image }

/** Where volumes, and what the runtime keeps of each container, are. */
export type Place = { folder: string; hosts: string }

/**
 * Runs a service as Docker would, by the runtime that Docker uses: its user, no capabilities, a root file system that cannot
 * be written. It shares the network of this process, in which the names of all services are this machine.
 */
export function startContainer({ name, service, image }: Run, place: Place): Container {
  const bundle = join(place.folder, 'bundles', name)
  const state = join(place.folder, 'runc')
  mkdirSync(bundle, { recursive: true })
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(configurationOf({ service, image }, place)))
  const child = spawn('runc', ['--root', state, 'run', '--bundle', bundle, name])
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return {
    output: () => text,
    hasEnded: () => child.exitCode !== null,
    ended: once(child, 'exit').then(([status]: number[]) => status ?? -1),
    async exec(...words) {
      const { status, out, err } = await runFile('runc', ['--root', state, 'exec', name, ...words], place)
      return { status, output: out + err }
    },
    signal: (signal) => void spawnSync('runc', ['--root', state, 'kill', name, signal]),
  }
}

function configurationOf({ service, image }: Omit<Run, 'name'>, place: Place): unknown {
  const { uid, gid } = userOf(image, service.user ?? image.user)
  const { memory, pids } = service.deploy.resources.limits
  const set = Object.entries(service.environment).map(([name, value]) => `${name}=${value}`)
  const none: string[] = []
  return {
    ociVersion: '1.0.2',
    root: { path: image.folder, readonly: service.read_only },
    process: {
      user: { uid, gid },
      args: [...image.entrypoint, ...(service.command ?? [])],
      env: [...image.env, ...set],
      cwd: image.workingFolder,
      noNewPrivileges: true,
      capabilities: { bounding: none, effective: none, permitted: none, inheritable: none, ambient: none },
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      { destination: '/dev/shm', type: 'tmpfs', source: 'shm', options: ['nosuid', 'nodev', 'mode=1777'] },
      bind(place.hosts, '/etc/hosts', true),
      // It has the rights that the folder has in the image.
      ...service.tmpfs.map((path) => ({
        destination: path,
        type: 'tmpfs',
        options: ['noexec', 'nosuid', 'nodev'],
      })),
      ...service.volumes.map((volume) =>
        volume.type === 'bind'
          ? bind(volume.source, volume.target, volume.read_only)
          : bind(keepVolume(volume, { image, uid, gid }, place), volume.target, volume.read_only),
      ),
    ],
    linux: {
      namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })),
      resources: { memory: { limit: Number(memory) }, pids: { limit: pids } },
    },
  }
}

function bind(source: string, destination: string, isReadOnly: boolean) {
  return {
    destination,
    type: 'bind',
    source,
    options: ['rbind', isReadOnly ? 'ro' : 'rw', 'nosuid', 'nodev'],
  }
}

function userOf({ folder }: Image, name: string): { uid: number; gid: number } {
  const users = readFileSync(join(folder, 'etc/passwd'), 'utf8').split('\n')
  const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
  if (uid === undefined) throw new Error(`the image has no user ${name}`)
  return { uid: Number(uid), gid: Number(gid) }
}

/** The folder of a volume. An empty one takes content and owner of the image's folder, as it does with Docker. */
function keepVolume(
  { source, target, read_only: isReadOnly }: Service['volumes'][number],
  { image, uid, gid }: { image: Image; uid: number; gid: number },
  place: Place,
): string {
  const folder = join(place.folder, 'volumes', source)
  mkdirSync(folder, { recursive: true })
  const own = join(image.folder, target)
  if (readdirSync(folder).length > 0) return folder
  if (image.standIn) {
    if (!isReadOnly) chownSync(folder, uid, gid)
  } else if (existsSync(own)) {
    cpSync(own, folder, { recursive: true })
    chownSync(folder, statSync(own).uid, statSync(own).gid)
  }
  return folder
}
