import { expect, test } from 'vitest'
import { EnvironmentReader } from '../../src/config/environment.ts'
import { readTracing } from '../../src/config/environment-settings.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }

function read(environment: Record<string, string>) {
  const reader = new EnvironmentReader(environment)
  return { settings: readTracing(reader), faults: [...new Set(reader.faults)] }
}

test('nothing is traced where no collector is named', () => {
  expect(read({})).toEqual({ settings: null, faults: [] })
  expect(read({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER_ARG: '0.5' }).settings).toBeNull()
})

test('traces go below the address of the collector, with its headers', () => {
  expect(
    read({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%3D, x-scope = 1' }).faults,
  ).toHaveLength(1)
  const { settings, faults } = read({
    ...endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%3D, x-scope=1',
    OTEL_SERVICE_NAME: 'deposits',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  })
  expect(faults).toEqual([])
  expect(settings).toEqual({
    url: 'http://collector:4318/v1/traces',
    headers: { authorization: 'Bearer a=', 'x-scope': '1' },
    serviceName: 'deposits',
    ratio: 0.25,
  })
})

test.each(['0', '1', '0.5', '.5', '1.0', '0.0001'])('%s is a share', (text) => {
  expect(read({ ...endpoint, OTEL_TRACES_SAMPLER_ARG: text }).settings?.ratio).toBe(Number(text))
})

test.each([
  [
    'an address of another kind',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://collector:4317' },
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  ],
  ['an empty address', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  [
    'headers without a value',
    { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'hunter22' },
    'OTEL_EXPORTER_OTLP_HEADERS',
  ],
  [
    'headers badly encoded',
    { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'a=%hunter22' },
    'OTEL_EXPORTER_OTLP_HEADERS',
  ],
  ['more than all', { ...endpoint, OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG'],
  ['no number', { OTEL_TRACES_SAMPLER_ARG: 'all' }, 'OTEL_TRACES_SAMPLER_ARG'],
  ['an empty name', { ...endpoint, OTEL_SERVICE_NAME: '' }, 'OTEL_SERVICE_NAME'],
])('%s is one fault, which gives no secret away', (_what, environment, name) => {
  const { faults } = read(environment)
  expect(faults).toHaveLength(1)
  expect(faults[0]).toContain(name)
  expect(faults[0]).not.toContain('hunter22')
})
