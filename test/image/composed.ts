import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { findPostgresPrograms } from '../../src/sandbox/postgres-cluster.ts'
import { until } from '../support/until.ts'
import { needPrograms } from './build.ts'
import {
  type Container,
  type Image,
  type Place,
  type Service,
  serviceShape,
  startContainer,
} from './container.ts'
import { CannotRun } from './step.ts'

const document = z.object({ services: z.record(z.string(), serviceShape) })

/** The services of the compose file of a folder, as Docker Compose reads them. */
function readServices(folder: string): Record<string, Service> {
  const words = ['--project-directory', folder, '--file', join(folder, 'docker-compose.yml'), 'config']
  execFileSync('docker-compose', [...words, '--quiet'], { stdio: 'pipe' })
  const text = execFileSync('docker-compose', [...words, '--format', 'json'], { encoding: 'utf8' })
  return document.parse(JSON.parse(text)).services
}

/** What the entrypoint of the image of Postgres does at a first start; see docker-library/postgres. */
const startPostgres = `
data=/var/lib/postgresql/18/docker
if [ ! -e $data/PG_VERSION ]; then
  initdb --pgdata=$data --username=$POSTGRES_USER --pwfile=$POSTGRES_PASSWORD_FILE --auth-host=scram-sha-256 --no-sync
  pg_ctl --pgdata=$data --wait --options='-c listen_addresses= -k /var/run/postgresql' start
  sql="psql --host=/var/run/postgresql --username=$POSTGRES_USER --no-psqlrc --quiet --set=ON_ERROR_STOP=1"
  $sql --dbname=postgres --command="create database $POSTGRES_DB"
  for file in /docker-entrypoint-initdb.d/*.sql; do $sql --dbname=$POSTGRES_DB --file=$file; done
  pg_ctl --pgdata=$data --wait --mode=fast stop
fi
exec "$@" -D $data -k /var/run/postgresql`

type StandIn = { programs: Record<string, string>; entrypoint: readonly string[]; workingFolder?: string }

/** Programs of Debian in the place of images that a machine without a registry does not have, by the name of the image. */
const standIns: Readonly<Record<string, StandIn>> = {
  postgres: {
    programs: { psql: 'postgresql-client-18', pg_isready: 'postgresql-client-18' },
    entrypoint: ['sh', '-euc', startPostgres, 'sh'],
  },
  redis: { programs: { 'redis-server': 'redis-server' }, entrypoint: [], workingFolder: '/data' },
  'prom/prometheus': { programs: { prometheus: 'prometheus', wget: 'wget' }, entrypoint: ['prometheus'] },
  'prom/alertmanager': {
    programs: { 'prometheus-alertmanager': 'prometheus-alertmanager', wget: 'wget' },
    entrypoint: ['prometheus-alertmanager'],
  },
}

/** The files of this machine, with what is written to them thrown away and the users that the images have. */
async function standInFiles(place: Place): Promise<Pick<Image, 'folder' | 'env' | 'user' | 'standIn'>> {
  const layers = join(place.folder, 'layers')
  const [upper, work, folder] = [join(layers, 'upper'), join(layers, 'work'), join(layers, 'merged')]
  mkdirSync(layers)
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', layers])
  for (const path of [upper, work, folder]) mkdirSync(path)
  const options = `lowerdir=/,upperdir=${upper},workdir=${work}`
  execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', options, folder])
  const users = { root: 0, redis: 999, postgres: 999, nobody: 65534 }
  const lines = Object.entries(users).map(([name, id]) => `${name}:x:${id}:${id}::/:/bin/sh\n`)
  writeFileSync(join(folder, 'etc/passwd'), lines.join(''))
  const { initdb } = await findPostgresPrograms()
  const postgres = '/opt/postgres'
  // Copied, not mounted: nothing that happens to these files may reach the checkout.
  cpSync(dirname(dirname(initdb)), join(folder, postgres), { recursive: true, verbatimSymlinks: true })
  execFileSync('install', ['--directory', '--mode=3777', join(folder, 'run/postgresql')])
  const path = `${postgres}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`
  return { folder, env: [`PATH=${path}`], user: 'root', standIn: true }
}

export type Composition = {
  services: Readonly<Record<string, Service>>
  /** Starts a service after those that it depends on, each in the state that the compose file asks for. */
  up: (name: string) => Promise<Container>
  /** Stops everything in the order in which Docker Compose does, and returns the exit status of each. */
  down: () => Promise<Record<string, number>>
  check: (name: string) => Promise<void>
}

/** Does for a compose file what Docker Compose does, with an image that was built here. */
export async function composeIn(folder: string, own: Image): Promise<Composition> {
  const services = readServices(folder)
  const place = { folder, hosts: join(folder, 'hosts') }
  writeFileSync(place.hosts, `127.0.0.1 localhost ${Object.keys(services).join(' ')}\n`)
  const files = await standInFiles(place)
  const running = new Map<string, Promise<Container>>()

  function imageOf({ image: name }: Service): Image {
    const [repository = ''] = name.split(':')
    if (repository === 'depositd') return own
    const standIn = standIns[repository]
    if (standIn === undefined)
      throw new CannotRun(`Debian has no package in the place of the image ${repository}`)
    needPrograms(standIn.programs)
    const { entrypoint, workingFolder = '/' } = standIn
    return { ...files, entrypoint, workingFolder }
  }

  async function start(name: string): Promise<Container> {
    const service = services[name]
    if (service === undefined) throw new Error(`the compose file has no service ${name}`)
    const image = imageOf(service)
    for (const [other, { condition }] of Object.entries(service.depends_on)) {
      const container = await up(other)
      if (condition === 'service_healthy') await check(other)
      else if ((await container.ended) !== 0) throw new Error(`${other} failed: ${container.output()}`)
    }
    return startContainer({ name, service, image }, place)
  }

  function up(name: string): Promise<Container> {
    const container = running.get(name) ?? start(name)
    running.set(name, container)
    return container
  }

  async function check(name: string): Promise<void> {
    const container = await up(name)
    const service = services[name]
    const [, ...words] = service?.healthcheck?.test ?? (service && imageOf(service).health) ?? []
    let said = ''
    const isWell = async () => {
      if (container.hasEnded()) throw new Error(`${name} has ended: ${container.output().slice(-2000)}`)
      const { status, output } = await container.exec(...words)
      said = output
      return status === 0 || null
    }
    await until(`${name} is healthy`, isWell, 60_000).catch((cause: unknown) => {
      throw new Error(`${words.join(' ')}: ${said}\n${container.output().slice(-2000)}`, { cause })
    })
  }

  async function down(): Promise<Record<string, number>> {
    const statuses: Record<string, number> = {}
    // Who depends on others stops before them.
    for (const [name, starting] of [...running].toReversed()) {
      const container = await starting.catch(() => null)
      if (container === null) continue
      container.signal(services[name]?.stop_signal ?? 'SIGTERM')
      statuses[name] = await within(container, services[name]?.stop_grace_period ?? '10s')
    }
    running.clear()
    return statuses
  }
  return { services, up, down, check }
}

/** The exit status; -9 if it was killed because it took longer than that. */
async function within(container: Container, grace: string): Promise<number> {
  const [, minutes = '0', seconds = '0'] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(grace) ?? []
  const patience = new Promise<null>((resolve) => {
    setTimeout(resolve, (Number(minutes) * 60 + Number(seconds)) * 1000, null).unref()
  })
  const status = await Promise.race([container.ended, patience])
  if (status !== null) return status
  container.signal('SIGKILL')
  await container.ended
  return -9
}
