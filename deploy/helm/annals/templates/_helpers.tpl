{{- define "annals.name" -}}
{{- if contains "annals" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-annals" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{/* Of one part of the release: pass a dict with root and part. */}}
{{- define "annals.selector" -}}
app.kubernetes.io/name: annals
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "annals.labels" -}}
{{ include "annals.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* Pass a dict with root and tag. */}}
{{- define "annals.image" -}}
{{ .root.Values.image.repository }}:{{ .tag | default .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* The settings of a process: pass a dict with root and settings, which are its own. */}}
{{- define "annals.environment" -}}
{{- $name := include "annals.name" .root -}}
{{- $settings := dict
  "PUBLIC_URL" .root.Values.publicUrl
  "COMMAND_URL" (printf "http://%s-command:4100" $name)
  "JWKS_URL" (printf "http://%s-auth:4000/jwks" $name)
  "AUDIT_DIR" "/var/lib/annals/audit"
  "CHANGE_STREAM_URL" "postgres:"
  "JOB_QUEUE_URL" "postgres:"
  "RATE_LIMIT_URL" "postgres:"
  "TRUST_PROXY" "1"
  "HEADER_BYTES_MAX" "32768"
-}}
{{- $settings = mergeOverwrite $settings .root.Values.settings .settings -}}
{{- range $setting, $key := .root.Values.secrets.keys }}
{{- $_ := unset $settings $setting }}
- name: {{ $setting }}_FILE
  value: /run/secrets/annals/{{ $key }}
{{- end }}
{{- range $setting, $value := $settings }}
- name: {{ $setting }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "annals.secrets" -}}
- name: secrets
  secret:
    secretName: {{ .Values.secrets.existing }}
    items:
    {{- range $key := values .Values.secrets.keys | uniq | sortAlpha }}
    - { key: {{ $key }}, path: {{ $key }} }
    {{- end }}
{{- end }}

{{- define "annals.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "annals.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* What is alike in all pods: pass a dict with root and part. */}}
{{- define "annals.placement" -}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- end }}

{{- define "annals.spread" -}}
topologySpreadConstraints:
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{- include "annals.selector" $ | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}
