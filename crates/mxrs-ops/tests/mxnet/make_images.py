#!/usr/bin/env python3
"""Writes tests/golden/<operator>.json of the operators of `src/spatial` with MXNet 1.9.1, as `make_operators.py` does.

    python make_images.py            needs mxnet==1.9.1 (CPU) and numpy 1.23
"""
import os

os.environ['MXNET_MKLDNN_ENABLED'] = '0'
from make_golden import u, v
from make_operators import record


def cases():
    out = []

    def add(op, name, attrs, *specs, grad=None, **options):
        if grad is None:
            grad = [i for i, spec in enumerate(specs) if spec['dtype'] == 'float32']
        out.append((op, name, {k: str(x) for k, x in attrs.items()}, list(specs), dict(options, grad=grad)))

    add('BilinearSampler', 'inside', {}, u(2, 3, 4, 5), u(2, 2, 3, 2))
    add('BilinearSampler', 'outside', dict(cudnn_off=True), u(1, 2, 4, 4), u(1, 2, 5, 5, low=-1.7, high=1.7))
    add('GridGenerator', 'affine', dict(transform_type='affine', target_shape='(3, 4)'), u(2, 6))
    add('GridGenerator', 'warp', dict(transform_type='warp'), u(2, 2, 3, 4))
    st = dict(transform_type='affine', sampler_type='bilinear')
    add('SpatialTransformer', 'smaller', dict(st, target_shape='(3, 4)'), u(2, 3, 4, 5), u(2, 6))
    add('SpatialTransformer', 'larger', dict(st, target_shape='(5, 6)'), u(1, 2, 3, 3), u(1, 6))
    near = dict(scale=2, sample_type='nearest')
    add('UpSampling', 'nearest', near, u(2, 3, 3, 4), count='num_args')
    add('UpSampling', 'three', dict(near, scale=3), u(1, 2, 2, 3), count='num_args')
    add('UpSampling', 'concatenated', near, u(1, 2, 2, 3), u(1, 1, 4, 6), count='num_args')
    add('UpSampling', 'summed', dict(near, multi_input_mode='sum'), u(1, 2, 2, 3), u(1, 2, 4, 6), count='num_args')
    # MXNet names the inputs data and weight.
    add('UpSampling', 'bilinear', dict(scale=2, sample_type='bilinear', num_filter=3), u(2, 3, 3, 4), u(3, 1, 4, 4),
        count='num_args', names=False)
    add('UpSampling', 'bilinear_three', dict(scale=3, sample_type='bilinear', num_filter=1), u(1, 1, 3, 4), u(1, 1, 5, 5),
        count='num_args', names=False)
    rois = v([0, 0, 0, 3, 4, 1, 1, 2, 2, 3, 0, 2.6, 1.4, 4, 5.5], shape=(3, 5))
    add('ROIPooling', 'two', dict(pooled_size='(2, 2)', spatial_scale=1), u(2, 3, 6, 5), rois, grad=[0])
    add('ROIPooling', 'half', dict(pooled_size='(3, 2)', spatial_scale=.5), u(1, 2, 5, 4), v([0, 1, 0, 7, 9], shape=(1, 5)),
        grad=[0])
    add('ROIPooling', 'outside', dict(pooled_size='(3, 3)', spatial_scale=1), u(1, 1, 4, 4),
        v([0, -2, 3, 1, 9, 0, 6, 6, 9, 9], shape=(2, 5)), grad=[0])
    align = dict(pooled_size='(2, 2)', spatial_scale=1)
    add('_contrib_ROIAlign', 'two', dict(align, sample_ratio=2), u(2, 3, 6, 5), rois, grad=[0])
    add('_contrib_ROIAlign', 'by_size', dict(align, spatial_scale=.5), u(1, 2, 5, 4), v([0, 1, 0, 7, 9], shape=(1, 5)), grad=[0])
    add('_contrib_ROIAlign', 'aligned', dict(align, aligned=True), u(1, 1, 4, 4), v([0, -1, 0, 3, 6, 0, 1, 1, 1.5, 1.2],
                                                                                    shape=(2, 5)), grad=[0])
    add('_contrib_ROIAlign', 'positions', dict(align, position_sensitive=True), u(2, 8, 6, 5), rois, grad=[0])
    add('Correlation', 'products', dict(max_displacement=1, pad_size=1), u(1, 3, 3, 4), u(1, 3, 3, 4))
    add('Correlation', 'patches', dict(max_displacement=2, stride2=2, kernel_size=3), u(1, 2, 8, 9), u(1, 2, 8, 9))
    add('Correlation', 'differences', dict(is_multiply=False, stride1=2, pad_size=1), u(1, 2, 5, 5), u(1, 2, 5, 5))
    add('Correlation', 'padded', dict(kernel_size=3, max_displacement=2, pad_size=3, stride1=2), u(1, 2, 5, 4), u(1, 2, 5, 4))
    for name, size, shape in [('bins', '(3, 2)', (2, 3, 7, 5)), ('larger', '(4, 4)', (1, 2, 3, 3)), ('both', '(2,)', (1, 1, 5,
            4))]:
        add('_contrib_AdaptiveAvgPooling2D', name, dict(output_size=size), u(*shape))
    add('_contrib_AdaptiveAvgPooling2D', 'whole', {}, u(2, 2, 3, 4))
    resize = '_contrib_BilinearResize2D'
    for corners in [True, False]:
        word = 'corners' if corners else 'areas'
        add(resize, word + '_larger', dict(height=7, width=9, align_corners=corners), u(2, 2, 4, 5))
        add(resize, word + '_smaller', dict(height=3, width=2, align_corners=corners), u(1, 2, 5, 6))
    add(resize, 'scaled', dict(scale_height=2, scale_width=.5), u(1, 1, 3, 4))
    add(resize, 'like', dict(mode='like'), u(1, 2, 3, 3), u(1, 1, 6, 5), grad=[0])
    for mode in ['to_even_down', 'to_even_up', 'to_odd_down', 'to_odd_up']:
        add(resize, mode, dict(mode=mode), u(1, 1, 4, 5))
    add(resize, 'odd_scale', dict(mode='odd_scale', scale_height=2, scale_width=3), u(1, 1, 4, 5))
    add('im2col', 'padded', dict(kernel='(3, 3)', pad='(1, 1)'), u(2, 3, 4, 5))
    add('im2col', 'strides', dict(kernel='(3, 3)', stride='(2, 1)', dilate='(1, 2)'), u(1, 2, 5, 7))
    add('im2col', 'line', dict(kernel='(2,)', pad='(1,)'), u(2, 2, 4))
    add('col2im', 'padded', dict(output_size='(4, 5)', kernel='(3, 3)', pad='(1, 1)'), u(2, 27, 20))
    add('col2im', 'strides', dict(output_size='(5, 4)', kernel='(2, 2)', stride='(3, 2)'), u(1, 8, 4))
    add('col2im', 'line', dict(output_size='(4,)', kernel='(2,)', dilate='(2,)'), u(2, 4, 2))
    three = dict(kernel='(3, 3)', num_filter=4)
    add('Deconvolution', 'strides', dict(three, stride='(2, 2)', pad='(1, 1)'), u(2, 3, 4, 3), u(3, 4, 3, 3))
    add('Deconvolution', 'adj', dict(three, stride='(2, 3)', adj='(1, 2)', no_bias=False), u(1, 2, 3, 3), u(2, 4, 3, 3), u(4))
    add('Deconvolution', 'groups', dict(three, num_group=2, dilate='(1, 2)'), u(1, 4, 3, 3), u(4, 2, 3, 3))
    add('Deconvolution', 'target', dict(three, target_shape='(6, 5)', stride='(2, 2)'), u(1, 2, 3, 3), u(2, 4, 3, 3))
    add('Deconvolution', 'line', dict(kernel='(3,)', stride='(2,)', num_filter=2), u(2, 3, 4), u(3, 2, 3))
    add('Deconvolution', 'volume', dict(kernel='(2, 2, 3)', num_filter=2, pad='(0, 1, 1)'), u(1, 2, 2, 3, 3), u(2, 2, 2, 2, 3))
    psroi = dict(spatial_scale=1, output_dim=2, pooled_size=2)
    regions = v([0, 0, 0, 3, 4, 1, 1, 2, 2, 3], shape=(2, 5))
    add('_contrib_PSROIPooling', 'two', psroi, u(2, 8, 6, 5), regions, grad=[0])
    add('_contrib_PSROIPooling', 'groups', dict(psroi, pooled_size=3, group_size=2, spatial_scale=.5), u(1, 8, 5, 4),
        v([0, 1, 0, 7, 9, 0, 2.5, 1.4, 4, 5.5], shape=(2, 5)), grad=[0])
    add('_contrib_PSROIPooling', 'outside', dict(psroi, output_dim=1), u(1, 4, 4, 4), v([0, -3, 2, 9, 2], shape=(1, 5)), grad=[0])
    rotated = dict(pooled_size='(2, 2)', spatial_scale=1, sampling_ratio=2)
    add('_contrib_RROIAlign', 'plain', rotated, u(2, 3, 6, 5), v([0, 2, 3, 3, 4, 0, 1, 2, 2, 2, 3, 30], shape=(2, 6)), grad=[])
    add('_contrib_RROIAlign', 'by_size', dict(rotated, sampling_ratio=-1, spatial_scale=.5), u(1, 2, 5, 4),
        v([0, 4, 5, 6, 7, -45], shape=(1, 6)), grad=[])
    add('_contrib_RROIAlign', 'outside', dict(rotated, pooled_size='(3, 2)'), u(1, 1, 4, 4), v([0, 3.5, 1, 6, .2, 100], shape=(1, 6)),
        grad=[])
    three = dict(kernel='(3, 3)', num_filter=2)
    deformable, modulated = '_contrib_DeformableConvolution', '_contrib_ModulatedDeformableConvolution'
    # No offset ends on a whole number, where the gradient jumps.
    far = dict(low=-1.4, high=1.3)
    add(deformable, 'padded', dict(three, pad='(1, 1)'), u(2, 3, 4, 5), u(2, 18, 4, 5, **far), u(2, 3, 3, 3), u(2))
    add(deformable, 'strides', dict(three, stride='(2, 1)', dilate='(1, 2)', no_bias=True), u(1, 2, 6, 7), u(1, 18, 2, 3, **far),
        u(2, 2, 3, 3))
    add(deformable, 'groups', dict(three, kernel='(2, 2)', num_group=2, num_deformable_group=2, no_bias=True), u(1, 4, 4, 4), u(1,
        16, 3, 3, **far), u(2, 2, 2, 2))
    half = dict(low=.1, high=1)
    add(modulated, 'padded', dict(three, pad='(1, 1)'), u(2, 3, 4, 5), u(2, 18, 4, 5, **far), u(2, 9, 4, 5, **half), u(2, 3, 3, 3), u(2))
    add(modulated, 'strides', dict(three, stride='(2, 1)', dilate='(1, 2)', no_bias=True, im2col_step=1), u(1, 2, 6, 7), u(1, 18, 2,
        3, **far), u(1, 9, 2, 3, **half), u(2, 2, 3, 3))
    add(modulated, 'groups', dict(three, kernel='(2, 2)', num_group=2, num_deformable_group=2, no_bias=True), u(1, 4, 4, 4), u(1,
        16, 3, 3, **far), u(1, 8, 3, 3, **half), u(2, 2, 2, 2))
    picture = u(4, 5, 3, low=0, high=256, dtype='uint8')
    batch = u(2, 4, 3, 3, low=0, high=256, dtype='uint8')
    add('_image_to_tensor', 'picture', {}, picture)
    add('_image_to_tensor', 'batch', {}, batch)
    add('_image_to_tensor', 'floats', {}, u(3, 4, 1), grad=[])
    # MXNet leaves the middle column or row unset if their number is odd.
    add('_image_flip_left_right', 'picture', {}, u(5, 4, 3, low=0, high=256, dtype='uint8'))
    add('_image_flip_left_right', 'floats', {}, u(3, 2, 1), grad=[])
    add('_image_flip_top_bottom', 'picture', {}, picture)
    add('_image_flip_top_bottom', 'floats', {}, u(2, 3, 1), grad=[])
    add('_image_normalize', 'picture', dict(mean='(0.5, 0.4, 0.3)', std='(0.2, 0.3, 0.4)'), u(3, 2, 4, low=0))
    add('_image_normalize', 'one_mean', dict(mean='(0.5,)', std='(2,)'), u(3, 2, 4, low=0))
    add('_image_normalize', 'gray', dict(mean='(0.5,)', std='(2,)'), u(1, 2, 4, low=0))
    add('_image_normalize', 'batch', dict(mean='(0.5, 0.4, 0.3)', std='(0.2, 0.3, 0.4)'), u(2, 3, 2, 2, low=0))
    add('_image_normalize', 'plain', {}, u(3, 2, 2, low=0))
    add('_image_crop', 'picture', dict(x=1, y=2, width=3, height=2), picture)
    add('_image_crop', 'batch', dict(x=0, y=1, width=2, height=3), batch)
    add('_image_crop', 'floats', dict(x=1, y=0, width=2, height=2), u(3, 4, 1))
    for interp in range(5):
        add('_image_resize', 'larger_%d' % interp, dict(size='(9, 7)', interp=interp), picture)
        add('_image_resize', 'smaller_%d' % interp, dict(size='(3, 2)', interp=interp), u(7, 8, 3, low=0, high=256, dtype='uint8'))
        add('_image_resize', 'floats_%d' % interp, dict(size='(6, 3)', interp=interp), u(4, 5, 2), grad=[])
    add('_image_resize', 'square', dict(size='(6,)'), batch)
    add('_image_resize', 'kept', dict(size='(6,)', keep_ratio=True), picture)
    add('_image_resize', 'kept_wide', dict(size='(3,)', keep_ratio=True), u(9, 5, 1, low=0, high=256, dtype='uint8'))
    return out


def shape_cases():
    return [
        ('BilinearSampler', {}, [(2, 3, 4, 5), (2, 2, 3, 2)]),
        ('BilinearSampler', {}, [(2, 3, 4, 5), (2, 3, 3, 2)]),
        ('GridGenerator', dict(transform_type='affine', target_shape='(3, 4)'), [(2, 6)]),
        ('GridGenerator', dict(transform_type='affine', target_shape='(3, 4)'), [(2, 5)]),
        ('GridGenerator', dict(transform_type='warp'), [(2, 2, 3, 4)]),
        ('SpatialTransformer', dict(transform_type='affine', sampler_type='bilinear', target_shape='(3, 4)'), [(2, 3, 4, 5),
            None]),
        ('ROIPooling', dict(pooled_size='(2, 2)', spatial_scale='1'), [(2, 3, 6, 5), (3, 5)]),
        ('ROIPooling', dict(pooled_size='(2, 2)', spatial_scale='1'), [(2, 3, 6, 5), (3, 4)]),
        ('Correlation', dict(max_displacement='1'), [(2, 3, 4, 5), (2, 3, 4, 5)]),
        ('_contrib_AdaptiveAvgPooling2D', dict(output_size='(2, 2)'), [(2, 3, 6, 5)]),
        ('_contrib_BilinearResize2D', dict(height='7', width='2'), [(2, 3, 6, 5)]),
        ('im2col', dict(kernel='(3, 3)'), [(2, 3, 6, 5)]),
        ('col2im', dict(kernel='(2, 2)', output_size='(3, 3)'), [(2, 8, 4)]),
        ('col2im', dict(kernel='(2, 2)', output_size='(3, 3)'), [(2, 7, 4)]),
        ('Deconvolution', dict(kernel='(3, 3)', num_filter='4', no_bias='False'), [(2, 3, 6, 5), None, None]),
        ('_contrib_PSROIPooling', dict(spatial_scale='1', output_dim='2', pooled_size='2'), [(2, 8, 6, 5), (3, 5)]),
        ('_contrib_RROIAlign', dict(spatial_scale='1', pooled_size='(2, 2)'), [(2, 8, 6, 5), (3, 6)]),
        ('_contrib_RROIAlign', dict(spatial_scale='1', pooled_size='(2, 2)'), [(2, 8, 6, 5), (3, 5)]),
        ('_image_to_tensor', {}, [(4, 5, 3)]),
        ('_image_to_tensor', {}, [(5, 3)]),
        ('_image_crop', dict(x='1', y='1', width='5', height='2'), [(4, 5, 3)]),
        ('_image_resize', dict(size='(4, 6)'), [(4, 5, 3)]),
    ]


if __name__ == '__main__':
    record(cases(), shape_cases())
