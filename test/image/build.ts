import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { readText, root } from '../docs/pages.ts'
import type { Image } from './container.ts'
import { CannotRun } from './step.ts'

/** Images are kept outside the checkout, and apart from those of other programs. */
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'depositd-image')
const tag = 'localhost/depositd'
const release = 'bookworm'

function run(program: string, ...words: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (status !== 0)
    throw new Error(`${program} ${words[0]}: ${error?.message ?? (stderr + stdout).slice(-4000)}`)
  return stdout.trim()
}

function buildah(...words: readonly string[]): string {
  return run('buildah', '--root', join(cache, 'images'), '--runroot', join(cache, 'run'), ...words)
}

/** @throws CannotRun that names all of them that are missing. */
export function needPrograms(programs: Readonly<Record<string, string>>): void {
  const missing = Object.entries(programs).filter(([name]) => spawnSync('which', [name]).status !== 0)
  if (missing.length === 0) return
  const names = missing.map(([name]) => name).join(', ')
  throw new CannotRun(`${names} not installed; Debian: ${missing.map(([, debian]) => debian).join(' ')}`)
}

/** Builds the image of the Dockerfile on a base that is made on this machine, and returns how many bytes it has. */
export function buildImage(): { bytes: number; ownBytes: number } {
  if (process.getuid?.() !== 0) throw new CannotRun('only root can run containers here')
  needPrograms({
    buildah: 'buildah',
    mmdebstrap: 'mmdebstrap',
    runc: 'runc',
    ip: 'iproute2',
    'docker-compose': 'docker-compose (2.24 or newer)',
  })
  const [, from = ''] = /^FROM (\S+)/m.exec(readText('Dockerfile')) ?? []
  buildah('tag', makeBase(), `docker.io/library/${from}`)
  const how = ['--isolation', 'chroot', '--pull-never', '--format', 'docker', ...npmVolumes()]
  buildah('build', ...how, '--tag', tag, root)
  const sizes = z
    .object({ layers: z.array(z.object({ size: z.number() })) })
    .parse(JSON.parse(inspect().Manifest))
    .layers.map(({ size }) => size)
  const ownBytes = sizes.at(-1) ?? 0
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), ownBytes }
}

/** Debian with Node and npm, as the base that the Dockerfile names; kept by all that it is made of. */
function makeBase(): string {
  const node = join(root, 'node_modules/node/bin/node')
  const npm = dirname(dirname(realpathSync(run('which', 'npm'))))
  const made = createHash('sha256')
    .update(readFileSync(import.meta.filename))
    .update(readFileSync(node))
    .update(readFileSync(join(npm, 'package.json')))
    .digest('hex')
  const name = `localhost/base:${made.slice(0, 16)}`
  if (buildah('images', '--quiet', '--filter', `reference=${name}`) !== '') return name
  const container = buildah('from', 'scratch')
  try {
    const folder = buildah('mount', container)
    const mirrors = run('apt-get', 'indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages')
    const [mirror] = /^\S+\/debian\/?$/m.exec(mirrors) ?? []
    if (mirror === undefined) throw new CannotRun('this machine installs no packages of Debian')
    const slim = ['doc', 'man', 'locale'].map((part) => `--dpkgopt=path-exclude=/usr/share/${part}/*`)
    const source = `deb ${mirror} ${release} main`
    const what = ['--quiet', '--variant=essential', '--include=libstdc++6,passwd', ...slim]
    run('mmdebstrap', ...what, release, folder, source)
    // The mirror is this machine's own.
    run('rm', '-r', join(folder, 'etc/apt'))
    run('install', '-D', node, join(folder, 'usr/local/bin/node'))
    run('mkdir', '-p', join(folder, 'usr/local/lib/node_modules'))
    run('cp', '--recursive', npm, join(folder, 'usr/local/lib/node_modules/npm'))
    run('ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm'))
    run('chroot', folder, 'useradd', '--uid', '1000', '--create-home', 'node')
    const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    buildah('config', '--env', `PATH=${path}`, container)
    buildah('commit', '--quiet', '--format', 'docker', container, name)
    return name
  } finally {
    buildah('rm', container)
  }
}

/** npm in the build asks the registry that npm on this machine asks, and takes what is in its cache; the image gets none of it. */
function npmVolumes(): string[] {
  const path = z.string().nullish()
  const npm = z
    .object({ userconfig: path, globalconfig: path, cafile: path, cache: path })
    .parse(JSON.parse(run('npm', 'config', 'ls', '-l', '--json')))
  const places = [
    [npm.userconfig, '/root/.npmrc', ':ro'],
    [npm.globalconfig, '/usr/local/etc/npmrc', ':ro'],
    [npm.cafile, npm.cafile, ':ro'],
    [npm.cache, '/root/.npm', ''],
  ]
  const there = places.filter(([own]) => typeof own === 'string' && existsSync(own))
  return there.flatMap(([own, inside, access]) => ['--volume', `${own}:${inside}${access}`])
}

const inspected = z.object({
  Manifest: z.string(),
  Docker: z.object({
    config: z.object({
      User: z.string(),
      WorkingDir: z.string(),
      Env: z.array(z.string()),
      Entrypoint: z.array(z.string()),
      Healthcheck: z.object({ Test: z.array(z.string()) }),
    }),
  }),
})

function inspect(): z.output<typeof inspected> {
  return inspected.parse(JSON.parse(buildah('inspect', '--type', 'image', tag)))
}

/** The image as its containers see it. `remove` lets go of its files, after the last of them has ended. */
export function mountImage(): Image & { remove: () => void } {
  const { Healthcheck: health, ...config } = inspect().Docker.config
  const container = buildah('from', '--pull-never', tag)
  const folder = buildah('mount', container)
  return {
    folder,
    user: config.User,
    workingFolder: config.WorkingDir,
    env: config.Env,
    entrypoint: config.Entrypoint,
    health: health.Test,
    remove() {
      buildah('rm', container)
      // Earlier images lost their name to this one.
      buildah('rmi', '--prune')
    },
  }
}
