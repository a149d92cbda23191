{{- define "openbook.labels" -}}
app.kubernetes.io/name: openbook
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "openbook.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* Of a dictionary: the root, and whether files are mounted */}}
{{- define "openbook.pod" -}}
{{- $root := .root -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
volumes:
  - {name: data, emptyDir: {}}
  - {name: tmp, emptyDir: {}}
  - name: secrets
    secret:
      secretName: {{ required "secrets.existing names the Secret with database_url and secret_key" $root.Values.secrets.existing }}
      defaultMode: 0440
  {{- if .files }}
  - name: files
    persistentVolumeClaim: {claimName: {{ $root.Release.Name }}-files}
  {{- end }}
{{- end }}

{{- define "openbook.container" -}}
{{- $root := .root -}}
image: {{ include "openbook.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
envFrom:
  - configMapRef: {name: {{ $root.Release.Name }}-settings}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
  - {name: secrets, mountPath: /run/secrets/openbook, readOnly: true}
  {{- if .files }}
  - {name: files, mountPath: /files}
  {{- end }}
{{- end }}
